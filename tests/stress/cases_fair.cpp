// SPDX-License-Identifier: Apache-2.0
// Priorities: larger first, and nobody waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <limits>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"

namespace {

using namespace heddle::test;

constexpr int stated_bound = 32;  // one start in this many goes to the oldest item

// NTIA/scos-sensor#103: what has low priority may never run. Right: under endless high load the oldest item
// starts within 32 starts of its device.
TEST(Fairness, LowPriorityStartsWithinTheBoundUnderEndlessHighLoad) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int device = 0; device < options.host.devices; ++device) {
      std::latch gate(1);
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(device));
      while (sched.stats().devices[static_cast<std::size_t>(device)].started == 0) std::this_thread::yield();
      std::atomic<int> starts{0}, started_at{-1};
      std::atomic<int> fed{0};
      auto low = sched.submit([&] { started_at = starts.load(); }, heddle::route::on(device).priority(-1000));
      // Each item of high priority brings another one, until the low one has run, so the load has no end.
      std::function<void()> high = [&] {
        starts.fetch_add(1);
        if (started_at.load() < 0 && fed.fetch_add(1) < 5000) {
          auto more = sched.submit([&] { high(); }, heddle::route::on(device).priority(1000));
        }
      };
      for (int k = 0; k < 4; ++k) {
        auto more = sched.submit([&] { high(); }, heddle::route::on(device).priority(1000));
      }
      gate.count_down();
      low.get();
      sched.drain();
      EXPECT_LE(started_at.load(), stated_bound);
    }
  });
}

// The same, in the shared queue and in the arenas, where the bound holds for each taker.
TEST(Fairness, LowPriorityStartsUnderEndlessHighLoadWhereAnyDeviceMayTakeIt) {
  on_every_machine([](const heddle::scheduler_options& options) {
    for (const bool in_arena : {false, true}) {
      heddle::scheduler sched(options);
      std::atomic<int> starts{0}, low_started{0};
      constexpr int lows = 5;
      const auto to = [in_arena](int priority) {
        auto r = heddle::route::any().priority(priority);
        if (in_arena) r.in_arena();
        return r;
      };
      std::atomic<int> fed{0};
      std::function<void()> high = [&] {
        starts.fetch_add(1);
        if (low_started.load() < lows && fed.fetch_add(1) < 200000) {
          auto more = sched.submit([&] { high(); }, to(std::numeric_limits<int>::max()));
        }
      };
      for (int k = 0; k < 50; ++k) {
        auto more = sched.submit([&] { high(); }, to(std::numeric_limits<int>::max()));
      }
      std::vector<heddle::future<void>> all;
      for (int k = 0; k < lows; ++k)
        all.push_back(sched.submit([&] { low_started.fetch_add(1); }, to(std::numeric_limits<int>::min())));
      for (auto& each : all) each.get();
      EXPECT_LT(fed.load(), 200000);
      sched.drain();
    }
  });
}

// The same kind: within one priority nobody overtakes, and the larger number goes first.
TEST(Fairness, HigherPriorityStartsFirstAndEqualOnesKeepTheirOrder) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::latch gate(1);
    auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(0));
    while (sched.stats().devices[0].started == 0) std::this_thread::yield();
    std::vector<int> order;
    for (int k = 0; k < 9; ++k) {  // fewer than one round of fairness
      for (const int priority : {-5, 0, 7}) {
        auto dropped = sched.submit([&order, k, priority] { order.push_back(priority * 100 + k); },
                                    heddle::route::on(0).priority(priority));
      }
    }
    gate.count_down();
    sched.drain();
    std::vector<int> expected;
    for (const int priority : {7, 0, -5}) {
      for (int k = 0; k < 9; ++k) expected.push_back(priority * 100 + k);
    }
    EXPECT_EQ(order, expected);
  });
}

// The same kind: the oldest of a crowd is never passed by more than the bound says, whatever the priorities.
TEST(Fairness, EveryItemStartsWithinTheBoundOfItsPlace) {
  heddle::scheduler sched(hosts(1));
  std::latch gate(1);
  auto blocker = sched.submit([&] { gate.wait(); });
  while (sched.stats().devices[0].started == 0) std::this_thread::yield();
  std::vector<int> order;
  for (int k = 0; k < 2000; ++k) {
    auto dropped = sched.submit([&order, k] { order.push_back(k); }, heddle::route::any().priority(k % 40));
  }
  gate.count_down();
  sched.drain();
  ASSERT_EQ(order.size(), 2000u);
  for (int place = 0; place < 2000; ++place)
    EXPECT_LE(place, (order[static_cast<std::size_t>(place)] + 1) * stated_bound);
}

}  // namespace
