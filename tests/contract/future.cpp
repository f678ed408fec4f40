// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Future);

static_assert(std::is_nothrow_move_constructible_v<future<int>>);
static_assert(!std::is_copy_constructible_v<future<int>>);

TEST_P(Future, GivesItsResultOnce) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; });
  EXPECT_TRUE(f.valid());
  EXPECT_EQ(f.get(), 1);
  EXPECT_FALSE(f.valid());
  EXPECT_THROW((void)f.get(), std::future_error);
}

TEST_P(Future, GivesItsErrorOnce) {
  scheduler sched(options(2));
  auto f = sched.submit([] { throw 1; });
  EXPECT_THROW(f.get(), int);
  EXPECT_THROW(f.get(), std::future_error);
}

TEST_P(Future, ThatRefersToNothingSaysSo) {
  future<int> f;
  EXPECT_FALSE(f.valid());
  EXPECT_THROW((void)f.get(), std::future_error);
  EXPECT_THROW(f.wait(), std::future_error);
  EXPECT_THROW((void)f.wait_for(std::chrono::seconds(1)), std::future_error);
  EXPECT_THROW((void)f.ready(), std::future_error);
  EXPECT_THROW((void)f.ran_on(), std::future_error);
  EXPECT_THROW((void)f.label(), std::future_error);
  EXPECT_THROW((void)f.why(), std::future_error);
  EXPECT_THROW((void)f.times(), std::future_error);
  EXPECT_THROW((void)f.cancel(), std::future_error);
  EXPECT_THROW((void)f.then([](int) {}), std::future_error);
  EXPECT_THROW((void)f.then_on_stream([](int&) {}), std::future_error);
}

TEST_P(Future, MovedFromRefersToNothing) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; });
  auto g = std::move(f);
  EXPECT_FALSE(f.valid());
  EXPECT_THROW((void)f.get(), std::future_error);
  f = sched.submit([] { return 2; });
  g = std::move(f);
  EXPECT_EQ(g.get(), 2);
  auto& self = g = sched.submit([] { return 3; });
  self = std::move(g);
  EXPECT_TRUE(g.valid()) << "moved to itself";
}

TEST_P(Future, WaitsForATimeOrForTheEnd) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  auto f = sched.submit([] {}, route::on(0));
  EXPECT_FALSE(f.wait_for(std::chrono::milliseconds(5)));
  EXPECT_FALSE(f.wait_for(std::chrono::seconds(0)));
  EXPECT_FALSE(f.wait_for(std::chrono::seconds(-1)));
  EXPECT_FALSE(f.wait_until(std::chrono::steady_clock::time_point::min()));
  EXPECT_FALSE(f.ready());
  busy.release();
  EXPECT_TRUE(f.wait_for(std::chrono::hours(1)));
  EXPECT_TRUE(f.ready());
  EXPECT_TRUE(f.valid());
  f.get();
}

TEST_P(Future, WaitsForTheLongestTimes) {
  scheduler sched(options(2));
  EXPECT_TRUE(sched.submit([] {}).wait_for(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(sched.submit([] {}).wait_for(std::chrono::hours::max()));
  EXPECT_TRUE(sched.submit([] {}).wait_for(std::chrono::duration<double>(1e300)));
  EXPECT_TRUE(sched.submit([] {}).wait_until(std::chrono::steady_clock::time_point::max()));
}

TEST_P(Future, TellsWhereItRan) {
  scheduler sched(options(2));
  auto f = sched.submit([] {}, route::on(1).label("where"));
  f.wait();
  EXPECT_EQ(f.ran_on(), 1);
  EXPECT_EQ(f.label(), "where");
  EXPECT_NE(f.why().find('1'), std::string::npos) << f.why();
}

TEST_P(Future, TellsWhereItFailed) {
  scheduler sched(options(2));
  auto f = sched.submit([] { throw 1; }, route::on(1).label("where"));
  f.wait();
  EXPECT_EQ(f.ran_on(), 1);
  EXPECT_EQ(f.label(), "where");
  EXPECT_THROW(f.get(), int);
}

TEST_P(Future, RanNowhereIfItNeverStarted) {
  scheduler sched(options(1));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] {});
  EXPECT_EQ(f.ran_on(), std::nullopt);
  EXPECT_TRUE(f.cancel());
  EXPECT_EQ(f.ran_on(), std::nullopt);
  EXPECT_FALSE(f.why().empty());
}

TEST_P(Future, TellsItsTimesInOrderWhereTheyAreRecorded) {
  auto chosen = options(2);
  chosen.record_times = true;
  scheduler sched(chosen);
  const auto before = std::chrono::steady_clock::now();
  auto f = sched.submit([](device_context& c) { c.enqueue([] {}); });
  f.wait();
  const auto after = std::chrono::steady_clock::now();
  const auto times = f.times();
  ASSERT_TRUE(times.has_value());
  EXPECT_LE(before, times->queued);
  EXPECT_LE(times->queued, times->started);
  EXPECT_LE(times->started, times->done);
  EXPECT_LE(times->done, after);
}

TEST_P(Future, HasNoTimesWhereNoneAreRecorded) {
  scheduler sched(options(2));
  auto f = sched.submit([] {});
  f.wait();
  EXPECT_FALSE(f.times());
}

TEST_P(Future, CancelsWhatHasNotStarted) {
  scheduler sched(options(1));
  occupied_device busy(sched, 0);
  death_record record;
  auto f = sched.submit([m = mortal(record)] { FAIL(); });
  EXPECT_TRUE(f.cancel());
  EXPECT_FALSE(f.cancel()) << "only one call did it";
  EXPECT_TRUE(f.ready());
  EXPECT_THROW(f.get(), cancelled);
  EXPECT_EQ(record.deaths, 0);
  busy.release();
  sched.drain();
  EXPECT_EQ(record.deaths, 1);
  EXPECT_NE(record.thread.load(), std::this_thread::get_id());
}

TEST_P(Future, CancelsNothingThatStarted) {
  scheduler sched(options(1));
  gate running;
  gate go;
  auto f = sched.submit([&] {
    running.open();
    go.wait();
    return 1;
  });
  running.wait();
  EXPECT_FALSE(f.cancel());
  go.open();
  f.wait();
  EXPECT_FALSE(f.cancel());
  EXPECT_EQ(f.get(), 1);
}

TEST_P(Future, CancelledWhileItStartsEitherRunsOrDoesNot) {
  scheduler sched(options(2));
  for (int k = 0; k < 2000; ++k) {
    std::atomic<int> runs{0};
    auto f = sched.submit([&runs, alive = counted()] { return ++runs; });
    if (f.cancel()) {
      EXPECT_THROW((void)f.get(), cancelled);
      EXPECT_EQ(runs, 0);
    } else {
      EXPECT_EQ(f.get(), 1);
    }
  }
  sched.drain();
}

TEST_P(Future, MayBeWaitedForByAnotherThreadThanItsMaker) {
  scheduler sched(options(2));
  for (int k = 0; k < 200; ++k) {
    auto f = sched.submit([k] { return k; });
    std::thread other([f = std::move(f), k]() mutable { EXPECT_EQ(f.get(), k); });
    other.join();
  }
}

TEST_P(Future, ALimitThatIsOverOrNoNumberIsNoWait) {
  scheduler sched(options(1));
  occupied_device busy(sched, 0);
  auto f = sched.submit([] {});
  EXPECT_FALSE(f.wait_for(std::chrono::hours(-3'000'000)));
  EXPECT_FALSE(f.wait_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())));
  busy.release();
  f.get();
}

// wait() may not be called there.
TEST_P(Future, TheLastTimeIsALimitLikeOthers) {
  scheduler sched(options(1));
  gate asked, go;
  auto slow = sched.submit([&] { go.wait(); });
  auto waits = sched.submit(
      [&] {
        asked.open();
        return slow.wait_until(std::chrono::steady_clock::time_point::max());
      },
      route::any().in_arena());
  asked.wait();
  go.open();
  EXPECT_TRUE(waits.get());
}

}  // namespace
}  // namespace heddle::test
