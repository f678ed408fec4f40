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

// A place that runs items.
struct place {
  explicit place(ledger& of) : books(of), counts(of.new_tally(tally::writers::one)) {}
  void start(int items = 1) {
    for (int k = 0; k < items; ++k) counts.start();
    books.tell_room();
  }
  void end(int items = 1) {
    for (int k = 0; k < items; ++k) counts.end();
    books.tell_end();
  }
  ledger& books;
  tally& counts;
};

TEST(Ledger, AdmitsUntilClosedAndThenOnlyFromInside) {
  ledger books(10, when_full::wait);
  EXPECT_EQ(books.admit(1, false, false).count, 1u);
  books.close();
  EXPECT_EQ(books.try_admit(1).count, 0u);
  EXPECT_EQ(books.admit(1, false, false).why, ledger::refusal::stopped);
  EXPECT_EQ(books.admit(1, true, false).count, 1u);
  EXPECT_EQ(books.pending(), 2u);
}

TEST(Ledger, StopsOnlyWithNothingPendingAndThenForEverybody) {
  ledger books(10, when_full::wait);
  place device(books);
  ASSERT_EQ(books.admit(1, false, false).count, 1u);
  device.start();
  EXPECT_FALSE(books.stop_if_idle());
  device.end();
  EXPECT_TRUE(books.stop_if_idle());
  EXPECT_EQ(books.admit(1, true, false).why, ledger::refusal::stopped);
  EXPECT_EQ(books.admit_waiting(true).why, ledger::refusal::stopped);
  EXPECT_FALSE(books.enter_call(true));
  EXPECT_EQ(books.try_admit(1).count, 0u);
  EXPECT_EQ(books.pending(), 0u);
  EXPECT_EQ(books.unstarted(), 0u);
}

TEST(Ledger, DrainTellsWhetherAnythingIsPending) {
  ledger books(10, when_full::wait);
  place device(books);
  EXPECT_TRUE(books.drain_until(at_once));
  ASSERT_EQ(books.admit(2, false, false).count, 2u);
  EXPECT_FALSE(books.drain_until(at_once));
  std::thread other([&] {
    device.start(2);
    device.end(2);
  });
  EXPECT_TRUE(books.drain_until(for_ever));
  other.join();
}

TEST(Ledger, CountsWhatEndsUnstartedAndWhatIsTakenBack) {
  ledger books(4, when_full::reject);
  place device(books);
  ASSERT_EQ(books.admit(4, false, false).count, 4u);
  EXPECT_EQ(books.admit(1, false, false).why, ledger::refusal::full);
  device.counts.drop(1);
  EXPECT_EQ(books.unstarted(), 3u);
  EXPECT_EQ(books.pending(), 3u);
  books.take_back(3, false);
  EXPECT_EQ(books.unstarted(), 0u);
  EXPECT_EQ(books.pending(), 0u);
  EXPECT_EQ(books.admit(4, false, false).count, 4u);
}

TEST(Ledger, GivesNoRoomToItemsThatWaitForOthersUntilTheyAreQueued) {
  ledger books(1, when_full::reject);
  ASSERT_EQ(books.admit_waiting(false).count, 1u);
  EXPECT_EQ(books.unstarted(), 0u);
  EXPECT_EQ(books.pending(), 1u);
  ASSERT_EQ(books.admit(1, false, false).count, 1u);
  books.queue_waiting();
  EXPECT_EQ(books.unstarted(), 2u);
  EXPECT_EQ(books.admit(1, false, false).why, ledger::refusal::full);
}

TEST(Ledger, CountsCallsAsPendingOnly) {
  ledger books(1, when_full::reject);
  ASSERT_TRUE(books.enter_call(false));
  EXPECT_EQ(books.pending(), 1u);
  EXPECT_EQ(books.unstarted(), 0u);
  books.leave_call();
  EXPECT_EQ(books.pending(), 0u);
}

TEST(Ledger, GivesTicketsInTheOrderOfAdmission) {
  ledger books(100, when_full::wait);
  const std::uint64_t next = books.next_ticket();
  EXPECT_EQ(books.try_admit(2).first_ticket, next);
  EXPECT_EQ(books.admit(3, false, false).first_ticket, next + 2);
  EXPECT_EQ(books.admit_waiting(false).first_ticket, next + 5);
  EXPECT_EQ(books.admit_along(4), next + 6);
  EXPECT_EQ(books.next_ticket(), next + 10);
}

TEST(Ledger, RejectsWholeRequestsWhereNobodyMayWait) {
  ledger books(3, when_full::reject);
  EXPECT_EQ(books.admit(2, false, false).count, 2u);
  EXPECT_EQ(books.admit(2, false, false).why, ledger::refusal::full);
  EXPECT_EQ(books.admit(1, false, false).count, 1u);
  EXPECT_EQ(books.unstarted(), 3u);
}

TEST(Ledger, GivesAPartOfALargeRequestToWhoMayWait) {
  ledger books(3, when_full::wait);
  EXPECT_EQ(books.admit(5, false, false).count, 3u);
  EXPECT_EQ(books.admit(1, false, true).why, ledger::refusal::full);
}

TEST(Ledger, LetsSubmittersThatWaitForRoomInAfterTheClose) {
  ledger books(1, when_full::wait);
  place device(books);
  ASSERT_EQ(books.admit(1, false, false).count, 1u);
  std::size_t admitted = 0;
  std::thread submitter([&] { admitted = books.admit(1, false, false).count; });
  while (books.pending() < 2) std::this_thread::yield();  // it waits, and counts like an item
  books.close();
  EXPECT_FALSE(books.stop_if_idle());
  device.start();
  submitter.join();
  EXPECT_EQ(admitted, 1u);
  EXPECT_EQ(books.pending(), 2u);
}

TEST(Ledger, NeverCountsMoreThanItsCapacityWhileSubmittersWait) {
  constexpr std::size_t capacity = 4;
  ledger books(capacity, when_full::wait);
  place device(books);
  std::atomic<std::size_t> most{0};
  std::vector<std::jthread> submitters;
  std::atomic<int> waiting{0};
  for (int k = 0; k < 4; ++k) {
    submitters.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) {
        const bool known_room = books.try_admit(1).count == 1;
        ASSERT_TRUE(known_room || books.admit(1, false, false).count == 1);
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
    device.start();
    ++started;
  }
  submitters.clear();
  EXPECT_EQ(books.unstarted(), 0u);
  EXPECT_LE(most.load(), capacity);
}

}  // namespace
}  // namespace heddle::detail
