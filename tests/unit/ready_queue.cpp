// SPDX-License-Identifier: Apache-2.0
#include "device/ready_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

// Items that are only queued, never run.
struct queued_item : item {
  queued_item(std::uint64_t the_ticket, int the_priority) : item(nothing) {
    ticket = the_ticket;
    priority = the_priority;
  }
  static constexpr item_operations nothing{};
};

void push(ready_queue& queue, item& it) { queue.arrivals.push(it, it); }

std::vector<std::uint64_t> take_in_order(ready_queue& queue) {
  std::vector<std::uint64_t> tickets;
  const std::lock_guard lock(queue.mutex);
  for (;;) {
    std::vector<queue_head> heads;
    queue.sort_arrivals();
    queue.heads(heads);
    const auto chosen = pick(heads, 0);
    if (!chosen) return tickets;
    tickets.push_back(queue.take(*chosen).ticket);
  }
}

TEST(ReadyQueue, GivesItemsOfOnePriorityInTheOrderOfTheirPushes) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (std::uint64_t k = 1; k <= 5; ++k) push(queue, items.emplace_back(k, 0));
  EXPECT_EQ(take_in_order(queue), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(ReadyQueue, GivesLargerPrioritiesFirst) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (std::uint64_t k = 1; k <= 6; ++k) {
    push(queue, items.emplace_back(k, static_cast<int>(k % 3)));
  }
  EXPECT_EQ(take_in_order(queue), (std::vector<std::uint64_t>{2, 5, 1, 4, 3, 6}));
}

TEST(ReadyQueue, KeepsAChainInItsOrder) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (std::uint64_t k = 1; k <= 3; ++k) items.emplace_back(k, 0);
  items[2].next = &items[1];
  items[1].next = &items[0];
  queue.arrivals.push(items[2], items[0]);
  EXPECT_EQ(take_in_order(queue), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(ReadyQueue, ReusesTheListOfAPriorityThatNobodyUsesAnyMore) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (int priority = 0; priority < 1000; ++priority) {
    push(queue, items.emplace_back(1, priority));
    EXPECT_EQ(take_in_order(queue).size(), 1u);
  }
  std::vector<queue_head> heads;
  const std::lock_guard lock(queue.mutex);
  queue.heads(heads);
  EXPECT_TRUE(heads.empty());
  EXPECT_EQ(queue.size(), 0u);
}

TEST(ReadyQueue, FindsTheWantedItemThatWouldStartFirstAndLeavesItThere) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (std::uint64_t k = 1; k <= 6; ++k) {
    auto& it = items.emplace_back(k, static_cast<int>(k % 2));
    it.stream = static_cast<std::int16_t>(k >= 3 ? 1 : 0);
    queue.arrivals.push(it, it);
  }
  const std::lock_guard lock(queue.mutex);
  const item* const found = queue.find([](const item& it) { return it.stream == 1; });
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ticket, 3u);
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.find([](const item&) { return false; }), nullptr);
}

TEST(ReadyQueue, TakesAllOldestFirstWithinAPriority) {
  ready_queue queue;
  std::deque<queued_item> items;
  for (std::uint64_t k = 1; k <= 4; ++k) push(queue, items.emplace_back(k, 0));
  const std::lock_guard lock(queue.mutex);
  item_list all = queue.take_all();
  for (std::uint64_t k = 1; k <= 4; ++k) EXPECT_EQ(all.pop()->ticket, k);
  EXPECT_EQ(all.pop(), nullptr);
  EXPECT_FALSE(queue.maybe_nonempty());
}

TEST(Inbox, APushTellsThatTheConsumerSleepsExactlyOnce) {
  inbox box;
  queued_item first(1, 0), second(2, 0);
  ASSERT_TRUE(box.try_park());
  EXPECT_TRUE(box.push(first, first));
  EXPECT_FALSE(box.push(second, second));
}

TEST(Inbox, DoesNotParkWhereItemsHaveArrived) {
  inbox box;
  queued_item first(1, 0);
  box.push(first, first);
  EXPECT_FALSE(box.try_park());
  EXPECT_EQ(box.take(), &first);
  EXPECT_TRUE(box.try_park());
}

TEST(Inbox, OnlyOnePokeWakes) {
  inbox box;
  EXPECT_FALSE(box.poke());
  ASSERT_TRUE(box.try_park());
  EXPECT_TRUE(box.poke());
  EXPECT_FALSE(box.poke());
}

TEST(Inbox, LosesNoWakeWhenPushesRaceWithParking) {
  constexpr std::size_t count = 20000;
  inbox box;
  std::deque<queued_item> items;
  for (std::size_t k = 0; k < count; ++k) items.emplace_back(k, 0);
  std::size_t taken = 0;
  std::thread consumer([&] {
    while (taken < count) {
      for (auto* it = box.take(); it != nullptr; it = static_cast<item*>(it->next)) ++taken;
      if (taken < count && box.try_park()) box.sleep();
    }
  });
  for (auto& it : items) {
    if (box.push(it, it)) box.wake();
  }
  consumer.join();
  EXPECT_EQ(taken, count);
}

}  // namespace
}  // namespace heddle::detail
