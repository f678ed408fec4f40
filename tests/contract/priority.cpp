// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Priority);

TEST_P(Priority, StartsLargerPrioritiesFirst) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    for (const int p : {1, -7, 5, 0, 9, 5}) {
      all.push_back(sched.submit([&order, p] { order.push_back(p); }, route::any().priority(p)));
    }
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{9, 5, 5, 1, 0, -7}));
}

TEST_P(Priority, ComparesPrioritiesOfSharedAndPinnedItems) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    all.push_back(sched.submit([&] { order.push_back(1); }, route::on(0).priority(1)));
    all.push_back(sched.submit([&] { order.push_back(2); }, route::any().priority(2)));
    all.push_back(sched.submit([&] { order.push_back(3); }, route::on(0).priority(3)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST_P(Priority, TakesTheOlderTicketAmongEqualPriorities) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    for (int k = 0; k < 20; ++k) {
      all.push_back(sched.submit([&order, k] { order.push_back(k); }, k % 2 ? route::any() : route::on(0)));
    }
  }
  for (auto& each : all) each.get();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Those of negative priority are sorted already when the other one arrives.
TEST_P(Priority, AnItemWithoutOneGoesBeforeManyOfNegativePriority) {
  for (const route& way : {route::any(), route::on(0)}) {
    scheduler sched(options(1));
    std::vector<int> order;
    std::vector<future<void>> all;
    gate first_runs, go_on;
    {
      const occupied_device busy(sched, 0);
      all.push_back(sched.submit(
          [&] {
            first_runs.open();
            go_on.wait();
          },
          route(way).priority(-1)));
      for (int k = 0; k < 100; ++k) {
        all.push_back(sched.submit([&] { order.push_back(-1); }, route(way).priority(-1)));
      }
    }
    first_runs.wait();
    all.push_back(sched.submit([&] { order.push_back(0); }, way));
    go_on.open();
    for (auto& each : all) each.get();
    EXPECT_EQ(order.front(), 0);
  }
}

TEST_P(Priority, TakesEveryIntAsPriority) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  const int least = std::numeric_limits<int>::min();
  const int most = std::numeric_limits<int>::max();
  {
    const occupied_device busy(sched, 0);
    for (const int p : {least, 0, most})
      all.push_back(sched.submit([&order, p] { order.push_back(p); }, route::any().priority(p)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{most, 0, least}));
}

// Source: NTIA/scos-sensor#103: low priority may never run.
TEST_P(Priority, StartsTheOldestItemWithinThirtyTwoWhateverItsPriority) {
  scheduler sched(options(1));
  int starts = 0;
  int low_start = -1;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    all.push_back(sched.submit([&] { low_start = starts++; }, route::any().priority(-1)));
    for (int k = 0; k < 200; ++k) all.push_back(sched.submit([&] { ++starts; }, route::any().priority(1)));
  }
  for (auto& each : all) each.get();
  EXPECT_GE(low_start, 0);
  EXPECT_LT(low_start, 32);
}

}  // namespace
}  // namespace heddle::test
