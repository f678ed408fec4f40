// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Then);

TEST_P(Then, PassesTheValueOn) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([] { return 2; }).then([](int x) { return x * 3; }).get(), 6);
  EXPECT_EQ(*sched.submit([] { return std::make_unique<int>(4); })
                 .then([](std::unique_ptr<int> p) { return p; })
                 .get(),
            4);
  int sum = 0;
  sched.submit([&] { sum += 1; }).then([&] { sum += 10; }).get();
  EXPECT_EQ(sum, 11);
}

TEST_P(Then, PassesTheContextToWhoTakesIt) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([] { return 5; }, route::on(1))
                .then([](device_context& c, int x) { return c.id() * 10 + x; })
                .get(),
            15);
}

TEST_P(Then, TakesTheFutureWithIt) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; });
  auto g = f.then([](int x) { return x; });
  EXPECT_FALSE(f.valid());
  EXPECT_EQ(g.get(), 1);
}

TEST_P(Then, GoesWhereItsRouteSays) {
  scheduler sched(options(3));
  const auto where = [](int) { return this_device::id(); };
  EXPECT_EQ(sched.submit([] { return 0; }, route::on(2)).then(where).get(), 2);
  EXPECT_EQ(sched.submit([] { return 0; }, route::on(2)).then(where, route::on(1)).get(), 1);
}

TEST_P(Then, SkipsItsCallableAfterAnErrorAndPassesTheErrorOn) {
  scheduler sched(options(2));
  death_record record;
  auto f = sched.submit([]() -> int { throw std::out_of_range("first"); })
               .then([m = mortal(record)](int) { ADD_FAILURE(); })
               .then([] { ADD_FAILURE(); });
  EXPECT_THROW(f.get(), std::out_of_range);
  EXPECT_EQ(record.deaths, 1);
}

TEST_P(Then, OfACancelledItemIsSkipped) {
  scheduler sched(options(1));
  std::stop_source source;
  occupied_device busy(sched, 0);
  auto f = sched.submit([] {}, route::any().stop(source.get_token())).then([] { ADD_FAILURE(); });
  source.request_stop();
  busy.release();
  EXPECT_THROW(f.get(), cancelled);
}

TEST_P(Then, MayBeCancelledWhileItWaits) {
  scheduler sched(options(1));
  occupied_device busy(sched, 0);
  std::atomic<int> runs{0};
  auto f = sched.submit([&] { ++runs; }).then([&] { runs += 100; });
  EXPECT_TRUE(f.cancel());
  EXPECT_THROW(f.get(), cancelled);
  busy.release();
  sched.drain();
  EXPECT_EQ(runs, 1);
}

TEST_P(Then, RunsInTheArenaWhereAsked) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return std::this_thread::get_id(); }, route::on(1))
               .then(
                   [](std::thread::id device_thread) {
                     return std::pair{device_thread != std::this_thread::get_id(), this_device::id()};
                   },
                   route::on(1).in_arena());
  EXPECT_EQ(f.get(), (std::pair{true, 1}));
}

TEST_P(Then, AfterAnArenaItemComesBackToTheDeviceThread) {
  scheduler sched(options(2));
  const auto device_thread = sched.submit([] { return std::this_thread::get_id(); }, route::on(1)).get();
  EXPECT_EQ(
      sched.submit([] {}, route::on(1).in_arena()).then([] { return std::this_thread::get_id(); }).get(),
      device_thread);
}

TEST_P(Then, MakesChainsOfAnyLength) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  auto f = sched.submit([] { return 0; }, route::on(0));
  for (int k = 0; k < 10000; ++k) f = f.then([](int x) { return x + 1; });
  busy.release();
  EXPECT_EQ(f.get(), 10000);
}

TEST_P(Then, MakesChainsOfAnyLengthThatFail) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  auto f = sched.submit([]() -> int { throw 7; }, route::on(0));
  for (int k = 0; k < 10000; ++k) f = f.then([c = counted()](int x) { return x + 1; });
  busy.release();
  EXPECT_THROW((void)f.get(), int);
  sched.drain();
}

TEST_P(Then, MakesChainsOfAnyLengthThatAreCancelled) {
  scheduler sched(options(2));
  future<int> f;
  {
    occupied_device busy(sched, 0);
    f = sched.submit([] { return 0; }, route::on(0));
    for (int k = 0; k < 10000; ++k) f = f.then([c = counted()](int x) { return x + 1; });
    sched.cancel();
  }
  EXPECT_THROW((void)f.get(), cancelled);
  sched.drain();
}

TEST_P(Then, AttachedToAFinishedItemRuns) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; }, route::on(1));
  f.wait();
  EXPECT_EQ(f.then([](int x) { return x + this_device::id(); }).get(), 2);
}

TEST_P(Then, AfterCloseIsRefusedAndLeavesTheFuture) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; });
  sched.close();
  EXPECT_THROW((void)f.then([](int x) { return x; }), scheduler_stopped);
  EXPECT_EQ(f.get(), 1);
}

TEST_P(Then, AfterItsSchedulerIsGoneIsRefusedAndLeavesTheFuture) {
  future<int> f;
  {
    scheduler sched(options(2));
    f = sched.submit([] { return 1; });
  }
  EXPECT_THROW((void)f.then([](int x) { return x; }), scheduler_stopped);
  EXPECT_THROW((void)f.then([](int x) { return x; }, route::on(0)), scheduler_stopped);
  EXPECT_THROW((void)f.then_on_stream([](int& x) { return x; }), scheduler_stopped);
  EXPECT_EQ(f.get(), 1);
}

TEST_P(Then, WithABadRouteIsRefusedAndLeavesTheFuture) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; });
  EXPECT_THROW((void)f.then([](int x) { return x; }, route::on(8)), invalid_option);
  EXPECT_THROW((void)f.then([](int x) { return x; }, route::on(0).stream(99)), invalid_option);
  EXPECT_EQ(f.get(), 1);
  sched.drain();
}

TEST_P(Then, AttachedBeforeCloseRunsBeforeDrainEnds) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  std::atomic<bool> ran{false};
  auto f = sched.submit([] {}, route::on(0)).then([] {}).then([&] { ran = true; });
  sched.close();
  busy.release();
  sched.drain();
  EXPECT_TRUE(ran);
  f.get();
}

TEST_P(Then, AttachedWhileTheItemEndsIsNeverLost) {
  scheduler sched(options(2));
  for (int k = 0; k < 3000; ++k)
    EXPECT_EQ(sched.submit([k] { return k; }).then([](int x) { return x; }).get(), k);
}

TEST_P(Then, TellsAnErrorThatPassedThroughOnce) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    (void)sched.submit([] { throw 1; }).then([] {}).then([] {});
  }
  EXPECT_EQ(log.size(), 1u);
}

}  // namespace
}  // namespace heddle::test
