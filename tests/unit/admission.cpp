// SPDX-License-Identifier: Apache-2.0
#include "pure/admission.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heddle::detail {
namespace {

constexpr auto huge = std::numeric_limits<std::size_t>::max();

template <class F>
void for_every_small_state(F f) {
  for (std::size_t capacity = 0; capacity < 9; ++capacity) {
    for (std::size_t unstarted = 0; unstarted < 11; ++unstarted) {
      for (std::size_t asked = 0; asked < 20; ++asked) f(unstarted, asked, capacity);
    }
  }
}

TEST(Window, IsTheProduct) {
  for (std::size_t streams = 1; streams <= 64; ++streams) {
    for (std::size_t each = 1; each <= 1024; each *= 2) ASSERT_EQ(window(streams, each), streams * each);
  }
}

TEST(Window, IsAtLeastOne) {
  EXPECT_EQ(window(0, 0), 1u);
  EXPECT_EQ(window(0, 5), 5u);
}

TEST(Window, DoesNotOverflow) { EXPECT_EQ(window(huge, 2), huge); }

TEST(MayTake, HoldsUntilTheWindowIsFull) {
  EXPECT_TRUE(may_take(0, 1));
  EXPECT_TRUE(may_take(7, 8));
  EXPECT_FALSE(may_take(8, 8));
  EXPECT_FALSE(may_take(9, 8));
}

TEST(Admit, LetsInWhateverFitsWholeOnAnyTerms) {
  for_every_small_state([](std::size_t unstarted, std::size_t asked, std::size_t capacity) {
    if (asked != 0 && unstarted + asked > capacity) return;
    for (const auto policy : {when_full::wait, when_full::reject}) {
      for (const bool on_device : {false, true}) {
        ASSERT_EQ(admit(unstarted, asked, capacity, policy, on_device), admission::admit);
      }
    }
  });
}

TEST(Admit, RefusesWholeWhatDoesNotFitWhenRejecting) {
  for_every_small_state([](std::size_t unstarted, std::size_t asked, std::size_t capacity) {
    if (asked == 0 || unstarted + asked <= capacity) return;
    ASSERT_EQ(admit(unstarted, asked, capacity, when_full::reject, false), admission::refuse);
  });
}

TEST(Admit, NeverWaitsOnADeviceThread) {
  for_every_small_state([](std::size_t unstarted, std::size_t asked, std::size_t capacity) {
    if (asked == 0 || unstarted + asked <= capacity) return;
    ASSERT_EQ(admit(unstarted, asked, capacity, when_full::wait, true), admission::refuse);
  });
}

TEST(Admit, WaitsOnlyWhenThereIsNoRoomAtAll) {
  for_every_small_state([](std::size_t unstarted, std::size_t asked, std::size_t capacity) {
    if (asked == 0) return;
    const bool full = unstarted >= capacity;
    const auto expected = full ? admission::wait : admission::admit;
    ASSERT_EQ(admit(unstarted, asked, capacity, when_full::wait, false), expected);
  });
}

TEST(Admit, BringsInABatchLargerThanTheCapacityByPieces) {
  std::size_t unstarted = 3;
  std::size_t left = 50;
  int waits = 0;
  while (left > 0) {
    if (admit(unstarted, left, 8, when_full::wait, false) == admission::wait) {
      unstarted -= 5;  // five items start meanwhile
      ++waits;
      continue;
    }
    const std::size_t piece = std::min(left, room(unstarted, 8));
    ASSERT_GT(piece, 0u);
    left -= piece;
    unstarted += piece;
    ASSERT_LE(unstarted, 8u);
  }
  EXPECT_EQ(waits, 9);  // 5 at once, then 45 by fives
}

TEST(Admit, DoesNotOverflow) {
  EXPECT_EQ(admit(5, huge, 8, when_full::reject, false), admission::refuse);
  EXPECT_EQ(admit(5, huge - 5, huge, when_full::reject, false), admission::admit);
}

TEST(Room, IsNoneWhenMoreIsQueuedThanTheCapacity) {
  EXPECT_EQ(room(9, 8), 0u);
  EXPECT_EQ(room(huge, 0), 0u);
}

}  // namespace
}  // namespace heddle::detail
