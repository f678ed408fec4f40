// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(WaitInAnItem);

// Source: oneTBB#2156: a task enqueued during a nested wait is never taken in a one-slot arena.
TEST_P(WaitInAnItem, ForItsOwnDeviceIsServed) {
  scheduler sched(options(2));
  auto f = sched.submit([&] { return sched.submit([] { return this_device::id(); }, route::on(1)).get(); },
                        route::on(1));
  EXPECT_EQ(f.get(), 1);
}

TEST_P(WaitInAnItem, ForAnyDeviceIsServedThoughItIsTheOnlyOne) {
  scheduler sched(options(1));
  EXPECT_EQ(sched.submit([&] { return sched.submit([] { return 3; }).get(); }).get(), 3);
}

TEST_P(WaitInAnItem, ForAnotherDeviceReturns) {
  scheduler sched(options(2));
  auto f = sched.submit([&] { return sched.submit([] { return this_device::id(); }, route::on(1)).get(); },
                        route::on(0));
  EXPECT_EQ(f.get(), 1);
}

// The first of them runs elsewhere, and its end alone brings the waiting thread nothing to do.
TEST_P(WaitInAnItem, ForSeveralServesAnyOfThem) {
  scheduler sched(options(2));
  for (const bool first_ends_early : {false, true}) {
    gate go;
    auto f = sched.submit(
        [&] {
          auto elsewhere = sched.submit([&] { go.wait(); }, route::on(1));
          auto here = sched.submit([&] { go.open(); }, route::on(0));
          if (first_ends_early) go.open();
          when_all(std::move(elsewhere), std::move(here)).get();
        },
        route::on(0));
    ASSERT_TRUE(f.wait_for(std::chrono::seconds(20))) << "a hang";
    f.get();
  }
}

TEST_P(WaitInAnItem, ForStreamWorkOfItsOwnDeviceReturns) {
  scheduler sched(options(1));
  auto f = sched.submit([&] {
    int value = 0;
    sched
        .submit([&value](device_context& c) {
          for (int k = 0; k < 5; ++k) c.enqueue([&value] { ++value; });
        })
        .get();
    return value;
  });
  EXPECT_EQ(f.get(), 5);
}

TEST_P(WaitInAnItem, RunsNoOtherItem) {
  scheduler sched(options(1));
  std::atomic<int> others{0};
  gate queued;
  gate running;
  auto f = sched.submit([&] {
    running.open();
    queued.wait();
    sched.submit([] {}, route::any().priority(-5)).get();
    return others.load();
  });
  running.wait();
  std::vector<future<void>> all;
  for (int k = 0; k < 10; ++k) all.push_back(sched.submit([&] { ++others; }, route::any().priority(5)));
  queued.open();
  EXPECT_EQ(f.get(), 0);
  for (auto& each : all) each.get();
}

TEST_P(WaitInAnItem, KeepsTheDeviceOfTheItem) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&] {
        sched.submit([] {}, route::on(0)).get();
        sched.submit([] {}, route::on(1)).get();
        return this_device::id();
      },
      route::on(0));
  EXPECT_EQ(f.get(), 0);
}

// Source: taskflow#575: recursive async plus future wait hangs.
TEST_P(WaitInAnItem, FiftyDeepReturns) {
  scheduler sched(options(1));
  std::function<int(int)> nest = [&](int depth) {
    return depth == 0 ? 0 : 1 + sched.submit([&nest, depth] { return nest(depth - 1); }).get();
  };
  EXPECT_EQ(sched.submit([&] { return nest(50); }).get(), 50);
}

TEST_P(WaitInAnItem, FiftyDeepOverTwoDevicesReturns) {
  scheduler sched(options(2));
  std::function<int(int)> nest = [&](int depth) {
    return depth == 0
               ? 0
               : 1 + sched.submit([&nest, depth] { return nest(depth - 1); }, route::on(depth % 2)).get();
  };
  EXPECT_EQ(sched.submit([&] { return nest(50); }).get(), 50);
}

TEST_P(WaitInAnItem, InARingOfDevicesReturns) {
  scheduler sched(options(3));
  auto f = sched.submit(
      [&] {
        return sched
            .submit(
                [&] {
                  return sched
                      .submit(
                          [&] { return sched.submit([] { return this_device::id(); }, route::on(0)).get(); },
                          route::on(2))
                      .get();
                },
                route::on(1))
            .get();
      },
      route::on(0));
  EXPECT_EQ(f.get(), 0);
}

TEST_P(WaitInAnItem, InManyRingsAtOnceReturns) {
  scheduler sched(options(3));
  std::function<int(int, int)> hop = [&](int device, int left) {
    if (left == 0) return 0;
    const int next = (device + 1) % 3;
    return 1 + sched.submit([&hop, next, left] { return hop(next, left - 1); }, route::on(next)).get();
  };
  for (int round = 0; round < 20; ++round) {
    std::vector<future<int>> all;
    for (int k = 0; k < 3; ++k) all.push_back(sched.submit([&hop, k] { return hop(k, 6); }, route::on(k)));
    for (auto& each : all) EXPECT_EQ(each.get(), 6);
  }
}

TEST_P(WaitInAnItem, ForAContinuationOfAnotherItemIsServed) {
  scheduler sched(options(1));
  auto f =
      sched.submit([&] { return sched.submit([] { return 1; }).then([](int x) { return x + 1; }).get(); });
  EXPECT_EQ(f.get(), 2);
}

TEST_P(WaitInAnItem, ForAJoinOfOthersIsServed) {
  scheduler sched(options(1));
  auto f = sched.submit(
      [&] { return when_all(sched.submit([] { return 1; }), sched.submit([] { return 2; })).get(); });
  EXPECT_EQ(f.get(), (std::tuple{1, 2}));
}

TEST_P(WaitInAnItem, ForALaterItemOfAStreamRunsTheOlderOnesFirst) {
  scheduler sched(options(1));
  std::vector<int> order;
  auto f = sched.submit(
      [&] {
        const auto where = route::on(0).stream(2);
        auto first = sched.submit([&] { order.push_back(1); }, where);
        auto second = sched.submit([&] { order.push_back(2); }, where);
        auto third = sched.submit([&] { order.push_back(3); }, where);
        third.get();
      },
      route::on(0).stream(1));
  f.get();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(WaitInAnItem, ForAnArenaItemReturns) {
  scheduler sched(options(2));
  auto f = sched.submit([&] { return sched.submit([] { return 5; }, route::on(0).in_arena()).get(); },
                        route::on(0));
  EXPECT_EQ(f.get(), 5);
}

TEST_P(WaitInAnItem, ForAnItemOfAnotherSchedulerReturns) {
  scheduler one(options(1));
  scheduler two(options(1));
  auto f = one.submit([&] { return two.submit([&] { return one.submit([] { return 7; }).get(); }).get(); });
  EXPECT_EQ(f.get(), 7);
}

TEST_P(WaitInAnItem, ForACancelledItemReturns) {
  scheduler sched(options(1));
  auto f = sched.submit([&] {
    auto other = sched.submit([] {});
    other.cancel();
    other.get();
  });
  EXPECT_THROW(f.get(), cancelled);
}

TEST_P(WaitInAnItem, FromManyItemsAtOnceReturns) {
  scheduler sched(options(2));
  std::vector<future<int>> all;
  for (int k = 0; k < 500; ++k) {
    all.push_back(sched.submit(
        [&, k] {
          auto a = sched.submit([k] { return k; }, route::on(k % 2));
          auto b = sched.submit([k] { return k; }, route::on((k + 1) % 2));
          auto c = sched.submit([k] { return k; });
          return a.get() + b.get() + c.get();
        },
        route::on(k % 2)));
  }
  for (int k = 0; k < 500; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), 3 * k);
}

}  // namespace
}  // namespace heddle::test
