// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
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

TEST_P(Future, HasNoCaptureLeftWhenItIsReady) {
  scheduler sched(options(2));
  for (int k = 0; k < 200; ++k) {
    auto f = sched.submit([a = counted(), b = std::make_unique<counted>()](device_context& c) {
      c.enqueue([held = counted()] { (void)held; });
    });
    f.wait();
    ASSERT_EQ(counted::living(), 0);
    f.get();
  }
}

TEST_P(Future, KeepsTheValueUntilItIsTakenOrDropped) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return counted(); });
  f.wait();
  EXPECT_EQ(counted::living(), 1);
  { const auto value = f.get(); }
  EXPECT_EQ(counted::living(), 0);
  {
    const auto dropped = sched.submit([] { return counted(); });
    dropped.wait();
  }
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Future, DroppedNeitherBlocksNorCancels) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  std::atomic<int> runs{0};
  for (int k = 0; k < 100; ++k)
    (void)sched.submit([&runs, alive = counted()] { return ++runs, counted(); }, route::on(0));
  EXPECT_EQ(runs, 0);
  busy.release();
  sched.drain();
  EXPECT_EQ(runs, 100);
  EXPECT_EQ(counted::living(), 0);
}

// Source: cms-sw/cmssw#21769: an exception in a task disappears.
TEST_P(Future, DroppedTellsItsErrorOnceWithDeviceAndLabel) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  (void)sched.submit([] { throw std::runtime_error("nobody"); }, route::on(1).label("dropped"));
  sched.drain();
  EXPECT_TRUE(eventually([&] { return log.size() == 1; }));
  const auto event = log.events().at(0);
  EXPECT_EQ(event.device, 1);
  EXPECT_EQ(event.label, "dropped");
  EXPECT_NE(event.message.find("nobody"), std::string::npos) << event.message;
  EXPECT_THROW(std::rethrow_exception(event.error), std::runtime_error);
}

TEST_P(Future, DroppedAfterItsEndTellsItsErrorToo) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  {
    auto f = sched.submit([] { throw 1; });
    f.wait();
  }
  EXPECT_EQ(log.size(), 1u);
}

TEST_P(Future, WhoseErrorWasTakenTellsNothing) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    EXPECT_THROW(sched.submit([] { throw 1; }).get(), int);
    EXPECT_THROW(sched.submit([] { throw 1; }).then([] {}).get(), int);
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(Future, OfACancelledItemTellsNothingWhenDropped) {
  auto chosen = options(1);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    const occupied_device busy(sched, 0);
    auto f = sched.submit([] {});
    f.cancel();
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(Future, CarriesExceptionsOfEveryTypeUnchanged) {
  struct odd {
    int value;
    counted alive;
  };
  scheduler sched(options(2));
  const void* thrown = nullptr;
  auto f = sched.submit([&thrown] {
    try {
      throw odd{5, {}};
    } catch (odd& e) {
      thrown = &e;
      throw;
    }
  });
  try {
    f.get();
    FAIL();
  } catch (const odd& e) {
    EXPECT_EQ(e.value, 5);
    EXPECT_EQ(&e, thrown) << "the object itself, not a copy";
  }
  EXPECT_THROW(sched.submit([] { throw "text"; }).get(), const char*);
  EXPECT_THROW(sched.submit([] { throw std::unique_ptr<int>(); }).get(), std::unique_ptr<int>);
}

TEST_P(Future, OutlivesItsScheduler) {
  future<std::string> value;
  future<void> error;
  future<void> never;
  {
    scheduler sched(options(1));
    value = sched.submit([] { return std::string(100, 'x'); });
    error = sched.submit([] { throw 4; });
    occupied_device busy(sched, 0);
    never = sched.submit([] {});
    sched.cancel();
  }
  EXPECT_TRUE(value.ready());
  EXPECT_EQ(value.ran_on(), 0);
  EXPECT_EQ(value.get().size(), 100u);
  EXPECT_THROW(error.get(), int);
  EXPECT_FALSE(never.cancel());
  EXPECT_THROW(never.get(), cancelled);
}

TEST_P(Future, MayBeWaitedForByAnotherThreadThanItsMaker) {
  scheduler sched(options(2));
  for (int k = 0; k < 200; ++k) {
    auto f = sched.submit([k] { return k; });
    std::thread other([f = std::move(f), k]() mutable { EXPECT_EQ(f.get(), k); });
    other.join();
  }
}

TEST_P(Future, OfAResultWhoseConstructionThrowsCarriesThat) {
  struct fragile {
    explicit fragile(bool fails) {
      if (fails) throw 9;
    }
    counted alive;
  };
  scheduler sched(options(2));
  auto f = sched.submit([] { return fragile(true); });
  EXPECT_THROW((void)f.get(), int);
  EXPECT_EQ(counted::living(), 0);
}

}  // namespace
}  // namespace heddle::test
