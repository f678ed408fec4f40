// SPDX-License-Identifier: Apache-2.0
#include "device/ready_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
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

void push(ready_queue& queue, item& it) { queue.arrivals.push(it); }

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

// Tickets first, … of a run, which the queue frees.
void push_run(ready_queue& queue, std::deque<queued_item>& items, std::uint64_t first, std::uint64_t count,
              int priority) {
  auto* const run = new item_run;
  for (std::uint64_t k = 0; k < count; ++k) run->add(items.emplace_back(first + k, priority));
  queue.arrivals.push(*run);
}

TEST(ReadyQueue, KeepsRunsInTheirOrderAmongWhatArrivesAroundThem) {
  ready_queue queue;
  std::deque<queued_item> items;
  push(queue, items.emplace_back(1, 0));
  push_run(queue, items, 2, 3, 0);
  push(queue, items.emplace_back(5, 0));
  push_run(queue, items, 6, 1, 0);
  push_run(queue, items, 7, 30, 0);
  push(queue, items.emplace_back(37, 0));
  {
    const std::lock_guard lock(queue.mutex);
    queue.sort_arrivals();
    EXPECT_EQ(queue.size(), 37u);
  }
  push_run(queue, items, 38, 2, 0);
  std::vector<std::uint64_t> all(39);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(take_in_order(queue), all);
}

TEST(ReadyQueue, PutsARunAmongThoseOfItsPriority) {
  ready_queue queue;
  std::deque<queued_item> items;
  push(queue, items.emplace_back(1, 0));
  push_run(queue, items, 2, 3, 7);
  push(queue, items.emplace_back(5, 7));
  push_run(queue, items, 6, 2, 0);
  EXPECT_EQ(take_in_order(queue), (std::vector<std::uint64_t>{2, 3, 4, 5, 1, 6, 7}));
}

TEST(ReadyQueue, TakesARunWhereSomeOfItWereTakenBefore) {
  ready_queue queue;
  std::deque<queued_item> items;
  push_run(queue, items, 1, 5, 0);
  const std::lock_guard lock(queue.mutex);
  queue.sort_arrivals();
  std::size_t two = 2;
  item* const first = queue.take(0, two).head;
  EXPECT_EQ(first->ticket, 1u);
  queue.put_back(*first);
  EXPECT_EQ(queue.size(), 4u);
  std::vector<std::uint64_t> left;
  for (auto all = queue.take_all(); item* const it = all.pop();) left.push_back(it->ticket);
  EXPECT_EQ(left, (std::vector<std::uint64_t>{1, 3, 4, 5}));
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
    queue.arrivals.push(it);
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
  EXPECT_TRUE(box.push(first));
  EXPECT_FALSE(box.push(second));
}

TEST(Inbox, DoesNotParkWhereItemsHaveArrived) {
  inbox box;
  queued_item first(1, 0);
  box.push(first);
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
      for (auto* it = box.take(); it != nullptr; it = it->next) ++taken;
      if (taken < count && box.try_park()) box.sleep();
    }
  });
  for (auto& it : items) {
    if (box.push(it)) box.wake();
  }
  consumer.join();
  EXPECT_EQ(taken, count);
}

}  // namespace
}  // namespace heddle::detail
