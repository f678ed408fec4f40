// SPDX-License-Identifier: Apache-2.0
#include "work/spin.hpp"

#include <gtest/gtest.h>

namespace heddle::detail {
namespace {

TEST(SpinHabit, GetsShorterInVainAndLongAgainOnceItPaid) {
  spin_habit habit;
  EXPECT_EQ(habit.next(), longest_spin);
  for (int k = 0; k < 10; ++k) habit.learn(false);
  EXPECT_EQ(habit.next(), shortest_spin);
  habit.learn(true);
  EXPECT_EQ(habit.next(), longest_spin);
}

TEST(SpinHabit, TriesAgainNowAndThen) {
  spin_habit habit;
  int tries = 0;
  for (int k = 0; k < 640; ++k) {
    habit.learn(false);
    habit.learn(false);
    habit.learn(false);
    habit.learn(false);
    habit.learn(false);
    tries += habit.next() == longest_spin ? 1 : 0;
  }
  EXPECT_EQ(tries, 10);
}

TEST(SpinUntil, EndsAtOnceWhenItIsReachedAndByItselfWhenNot) {
  EXPECT_TRUE(spin_until([] { return true; }));
  EXPECT_FALSE(spin_until([] { return false; }));
}

TEST(SpinUntil, LooksOnceWhereASpinCannotPay) {
  // No scheduler has been made here: the number of cores is not known.
  int looks = 0;
  EXPECT_FALSE(spin_until([&] { return ++looks > 1; }));
  EXPECT_EQ(looks, 1);
  spin_permit::set_cores(2);
  EXPECT_TRUE(spin_until([&] { return ++looks > 3; }));
  spin_permit::set_cores(1);
  EXPECT_EQ(spin_permit::most(), 2);
}

}  // namespace
}  // namespace heddle::detail
