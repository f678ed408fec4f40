// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/brittle.hpp"
#include "support/contract.hpp"
#include "support/counted.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(SubmitBatch);

std::vector<std::function<int()>> numbered(int count) {
  std::vector<std::function<int()>> calls;
  for (int k = 0; k < count; ++k) calls.push_back([k] { return k; });
  return calls;
}

TEST_P(SubmitBatch, GivesFuturesInOrder) {
  scheduler sched(options(2));
  auto all = sched.submit_batch(numbered(300));
  ASSERT_EQ(all.size(), 300u);
  for (int k = 0; k < 300; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
}

TEST_P(SubmitBatch, OfNothingIsNothing) {
  scheduler sched(options(2));
  EXPECT_TRUE(sched.submit_batch(numbered(0)).empty());
}

TEST_P(SubmitBatch, StartsPinnedItemsInOrder) {
  scheduler sched(options(2));
  std::vector<int> order;
  std::vector<std::function<void()>> calls;
  for (int k = 0; k < 200; ++k) calls.push_back([&order, k] { order.push_back(k); });
  for (auto& each : sched.submit_batch(calls, route::on(1))) each.get();
  EXPECT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(SubmitBatch, TakesMoveOnlyCallablesOfAnRvalue) {
  scheduler sched(options(2));
  const auto make = [](int k) { return [p = std::make_unique<int>(k)] { return *p; }; };
  std::vector<decltype(make(0))> calls;
  for (int k = 0; k < 5; ++k) calls.push_back(make(k));
  auto all = sched.submit_batch(std::move(calls));
  EXPECT_EQ(all[4].get(), 4);
}

TEST_P(SubmitBatch, LeavesAnLvaluesCallablesWhereTheyAre) {
  scheduler sched(options(2));
  auto calls = numbered(3);
  for (auto& each : sched.submit_batch(calls)) each.get();
  EXPECT_EQ(calls[2](), 2);
}

TEST_P(SubmitBatch, LeavesTheCallablesBehindAViewWhereTheyAre) {
  scheduler sched(options(2));
  auto calls = numbered(3);
  for (auto& each : sched.submit_batch(calls | std::views::filter([](const auto&) { return true; })))
    each.get();
  ASSERT_TRUE(calls[2] != nullptr);
  EXPECT_EQ(calls[2](), 2);
}

TEST_P(SubmitBatch, LargerThanTheQueueGoesInPieces) {
  auto chosen = options(2);
  chosen.queue_capacity = 3;
  scheduler sched(chosen);
  auto all = sched.submit_batch(numbered(50));
  for (int k = 0; k < 50; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
}

TEST_P(SubmitBatch, IsRefusedWholeWhereItMayNotWait) {
  auto chosen = options(2);
  chosen.queue_capacity = 3;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  std::atomic<int> runs{0};
  const std::vector<std::function<void()>> calls(4, [&runs] { ++runs; });
  EXPECT_THROW((void)sched.submit_batch(calls), queue_full);
  sched.drain();
  EXPECT_EQ(runs, 0);
}

TEST_P(SubmitBatch, RefusedDestroysNothingTwiceAndLeavesTheBooksEven) {
  scheduler sched(options(2));
  sched.close();
  std::vector<death_record> records(3);
  const auto make = [&](std::size_t k) { return [m = mortal(records[k])] {}; };
  std::vector<decltype(make(0))> calls;
  for (std::size_t k = 0; k < 3; ++k) calls.push_back(make(k));
  EXPECT_THROW((void)sched.submit_batch(std::move(calls)), scheduler_stopped);
  calls.clear();
  for (const auto& each : records) EXPECT_EQ(each.deaths, 1);
  EXPECT_EQ(sched.stats().pending, 0u);
}

TEST_P(SubmitBatch, LeavesNothingBehindWhenACopyThrows) {
  scheduler sched(options(2));
  int left = 3;
  std::vector<brittle> calls;
  calls.reserve(3);
  for (int k = 0; k < 3; ++k) calls.emplace_back(&left);
  left = 1;
  EXPECT_THROW((void)sched.submit_batch(calls), int);
  EXPECT_EQ(counted::living(), 3);
  EXPECT_EQ(sched.stats().pending, 0u);
}

}  // namespace
}  // namespace heddle::test
