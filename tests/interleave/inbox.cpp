// SPDX-License-Identifier: Apache-2.0
// The inbox itself, on words that let the explorer choose who comes next: every order with up to three
// preemptions, among them wakes without cause, time limits and exchanges that fail without cause.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <utility>

#include "interleave/inbox_scenes.hpp"

namespace heddle::interleave {
namespace {

using stepped_inbox = detail::basic_inbox<stepped_futex>;
constexpr int most_preemptions = 3;

void expect_no_failure(const std::function<program()>& make) {
  const auto found = explore(most_preemptions, make);
  EXPECT_EQ(found.failure, "");
  std::cout << found.interleavings << " interleavings\n";
}

TEST(InboxInterleaved, GivesEachItemOnceAndInOrder) { expect_no_failure(pushes_and_sleep<stepped_inbox>); }
TEST(InboxInterleaved, EndsASleepByOnePushOrPoke) { expect_no_failure(pushes_and_pokes<stepped_inbox>); }
TEST(InboxInterleaved, LosesNothingWhereATimeLimitPasses) {
  expect_no_failure(pushes_and_pauses<stepped_inbox>);
}
TEST(InboxInterleaved, LetsADeviceSleepOnlyWhereNothingIsShared) {
  expect_no_failure(shared_pushes_and_sleep<stepped_inbox>);
}

// What would go wrong, were an operation not what it is: the explorer has to find it.

/// A compare-exchange that is a load and a store.
struct torn_word : stepped<std::uint64_t> {
  using stepped::stepped;
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t value, std::memory_order,
                             std::memory_order) {
    const std::uint64_t seen = load();
    if (seen == expected) store(value);
    return std::exchange(expected, seen) == seen;
  }
};

/// A compare-exchange to this value that does not compare.
template <std::uint64_t To>
struct blind_word : stepped<std::uint64_t> {
  using stepped::stepped;
  bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t value, std::memory_order order) {
    if (value != To) return stepped::compare_exchange_strong(expected, value, order);
    store(value);
    return true;
  }
};

/// An exchange that is a load and a store.
struct torn_exchange : stepped<std::uint64_t> {
  using stepped::stepped;
  std::uint64_t exchange(std::uint64_t value, std::memory_order) {
    const std::uint64_t before = load();
    store(value);
    return before;
  }
};

template <class Word>
struct futex_of : stepped_futex {
  using word = Word;
};

/// The kernel does not look again before it lets the caller sleep.
struct blind_futex : stepped_futex {
  static void wait(word& w, std::uint64_t) {
    come_to_step();
    sleep_on(&w, false);
  }
};

/// Whether to wake is decided before the push.
struct early_inbox : stepped_inbox {
  bool push(detail::continuation& arrival) {
    const bool asleep = sleeping();
    stepped_inbox::push(arrival);
    return asleep;
  }
};

void expect_failure(const std::function<program()>& make) {
  for (int preemptions = 0; preemptions <= most_preemptions; ++preemptions) {
    const auto found = explore(preemptions, make);
    if (found.failure.empty()) continue;
    std::cout << "found with " << preemptions << " preemptions, in interleaving " << found.interleavings
              << ": " << found.failure.substr(0, found.failure.find('\n')) << '\n';
    return;
  }
  ADD_FAILURE() << "the planted bug is not found";
}

TEST(InboxInterleaved, FailsWhereAPushIsALoadAndAStore) {
  expect_failure(pushes_and_sleep<detail::basic_inbox<futex_of<torn_word>>>);
}
TEST(InboxInterleaved, FailsWhereATakeIsALoadAndAStore) {
  expect_failure(pushes_and_sleep<detail::basic_inbox<futex_of<torn_exchange>>>);
}
TEST(InboxInterleaved, FailsWhereAParkDoesNotLook) {
  expect_failure(pushes_and_sleep<detail::basic_inbox<futex_of<blind_word<1>>>>);
}
TEST(InboxInterleaved, FailsWhereAnUnparkOrAPokeDoesNotLook) {
  expect_failure(pushes_and_pokes<detail::basic_inbox<futex_of<blind_word<0>>>>);
  expect_failure(pushes_and_pauses<detail::basic_inbox<futex_of<blind_word<0>>>>);
}
TEST(InboxInterleaved, FailsWhereTheKernelDoesNotLook) {
  expect_failure(pushes_and_sleep<detail::basic_inbox<blind_futex>>);
}
TEST(InboxInterleaved, FailsWhereTheWakeIsDecidedBeforeThePush) {
  expect_failure(pushes_and_sleep<early_inbox>);
}
TEST(InboxInterleaved, FailsWhereADeviceLiesDownAfterItsLastLook) {
  expect_failure(shared_pushes_and_sleep<stepped_inbox, lies_down::after_it>);
}
TEST(InboxInterleaved, FailsWhereADeviceLiesDownBeforeItParks) {
  expect_failure(shared_pushes_and_sleep<stepped_inbox, lies_down::before_it_parks>);
}

}  // namespace
}  // namespace heddle::interleave
