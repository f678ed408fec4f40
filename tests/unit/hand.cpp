// SPDX-License-Identifier: Apache-2.0
#include "device/hand.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

// Items that are only held, never run.
struct held_item : item {
  explicit held_item(std::uint64_t the_ticket) : item(nothing) { ticket = the_ticket; }
  static constexpr item_operations nothing{};
};

TEST(Hand, GivesItsItemsInTheOrderInWhichTheyCame) {
  hand h;
  std::deque<held_item> items;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t k = 0; k < hand::places; ++k) h.add(items.emplace_back(k), k % 2 == 0);
    for (std::uint64_t k = 0; k < hand::places; ++k) EXPECT_EQ(h.pop()->ticket, k);
    EXPECT_EQ(h.pop(), nullptr);
  }
}

TEST(Hand, LetsOthersTakeOnlyWhatIsForAnyone) {
  hand h;
  held_item own(1), shared(2);
  h.add(own, false);
  h.add(shared, true);
  h.offer(true);
  EXPECT_TRUE(h.offers());
  EXPECT_EQ(h.take_for_anyone(), &shared);
  EXPECT_EQ(h.take_for_anyone(), nullptr);
  EXPECT_FALSE(h.offers());
  EXPECT_EQ(h.pop(), &own);
  EXPECT_EQ(h.pop(), nullptr);
}

TEST(Hand, LetsWhoCancelsTakeAll) {
  hand h;
  held_item own(1), shared(2);
  h.add(own, false);
  h.add(shared, true);
  EXPECT_EQ(h.take_any(), &own);
  EXPECT_EQ(h.take_any(), &shared);
  EXPECT_EQ(h.take_any(), nullptr);
  EXPECT_EQ(h.pop(), nullptr);
}

TEST(Hand, GivesEachItemToOneThreadOnly) {
  constexpr std::uint64_t rounds = 3000;
  hand h;
  std::deque<held_item> items;
  for (std::uint64_t k = 0; k < rounds * hand::places; ++k) items.emplace_back(k);
  std::vector<std::atomic<int>> taken(items.size());
  std::atomic<bool> over{false};
  std::vector<std::jthread> thieves;
  for (int t = 0; t < 2; ++t) {
    thieves.emplace_back([&] {
      while (!over.load()) {
        if (item* const it = h.take_for_anyone()) taken[it->ticket].fetch_add(1);
      }
    });
  }
  auto next = items.begin();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t k = 0; k < hand::places; ++k) h.add(*next++, true);
    while (item* const it = h.pop()) taken[it->ticket].fetch_add(1);
  }
  over.store(true);
  thieves.clear();
  for (const auto& each : taken) ASSERT_EQ(each.load(), 1);
}

}  // namespace
}  // namespace heddle::detail
