// SPDX-License-Identifier: Apache-2.0
#include "work/ledger.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

constexpr auto at_once = std::chrono::steady_clock::time_point::min();
constexpr auto for_ever = std::chrono::steady_clock::time_point::max();

TEST(Ledger, AdmitsUntilClosedAndThenOnlyFromInside) {
  ledger books(10, when_full::wait);
  EXPECT_TRUE(books.enter(1, false));
  books.close();
  EXPECT_FALSE(books.enter(1, false));
  EXPECT_TRUE(books.enter(1, true));
  EXPECT_EQ(books.pending(), 2u);
}

TEST(Ledger, StopsOnlyWithNothingPendingAndThenForEverybody) {
  ledger books(10, when_full::wait);
  ASSERT_TRUE(books.enter(1, false));
  EXPECT_FALSE(books.stop_if_idle());
  books.leave(1);
  EXPECT_TRUE(books.stop_if_idle());
  EXPECT_FALSE(books.enter(1, true));
  EXPECT_EQ(books.pending(), 0u);
}

TEST(Ledger, DrainTellsWhetherAnythingIsPending) {
  ledger books(10, when_full::wait);
  EXPECT_TRUE(books.drain_until(at_once));
  ASSERT_TRUE(books.enter(2, false));
  EXPECT_FALSE(books.drain_until(at_once));
  std::thread other([&] { books.leave(2); });
  EXPECT_TRUE(books.drain_until(for_ever));
  other.join();
}

TEST(Ledger, RejectsWholeRequestsWhereNobodyMayWait) {
  ledger books(3, when_full::reject);
  EXPECT_EQ(books.reserve(2, false), 2u);
  EXPECT_EQ(books.reserve(2, false), 0u);
  EXPECT_EQ(books.reserve(1, false), 1u);
  EXPECT_EQ(books.unstarted(), 3u);
}

TEST(Ledger, GivesAPartOfALargeRequestToWhoMayWait) {
  ledger books(3, when_full::wait);
  EXPECT_EQ(books.reserve(5, false), 3u);
  EXPECT_EQ(books.reserve(1, true), 0u);
}

TEST(Ledger, NeverCountsMoreThanItsCapacityWhileSubmittersWait) {
  constexpr std::size_t capacity = 4;
  ledger books(capacity, when_full::wait);
  std::atomic<std::size_t> most{0};
  std::vector<std::jthread> submitters;
  std::atomic<int> waiting{0};
  for (int k = 0; k < 4; ++k) {
    submitters.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) {
        ASSERT_EQ(books.reserve(1, false), 1u);
        const std::size_t seen = books.unstarted();
        std::size_t before = most.load();
        while (before < seen && !most.compare_exchange_weak(before, seen)) {
        }
        waiting.fetch_add(1);
      }
    });
  }
  for (int started = 0; started < 8000;) {
    int ready = waiting.load();
    if (ready == 0 || !waiting.compare_exchange_strong(ready, ready - 1)) continue;
    books.start(1);
    ++started;
  }
  submitters.clear();
  EXPECT_EQ(books.unstarted(), 0u);
  EXPECT_LE(most.load(), capacity);
}

}  // namespace
}  // namespace heddle::detail
