// SPDX-License-Identifier: Apache-2.0
#include "pure/rates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr auto many = std::numeric_limits<std::uint64_t>::max();

TEST(Rates, KnowNothingAtFirst) {
  const rates r(3);
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_FALSE(r.known(d));
    EXPECT_EQ(r.of(d), 0.);
  }
  EXPECT_EQ(r.weights(), std::vector<double>(3, 0.));
}

TEST(Rates, BelieveTheFirstSample) {
  rates r(2);
  r.note(1, 600, 2.);
  EXPECT_TRUE(r.known(1));
  EXPECT_EQ(r.of(1), 300.);
  EXPECT_FALSE(r.known(0));
}

TEST(Rates, IgnoreSamplesThatSayNothing) {
  rates r(1);
  r.note(0, 100, 1.);
  r.note(0, 0, 1.);
  for (const double seconds : {0., -1., not_a_number, infinite, -infinite, 1e-300, 1e300}) {
    r.note(0, many, seconds);
  }
  EXPECT_EQ(r.of(0), 100.);
}

TEST(Rates, StayPositiveNumbersForTheLongestAndTheShortestSamples) {
  rates r(3);
  for (int i = 0; i < 20; ++i) {
    r.note(0, 1, 1e9);
    r.note(1, many, 1e-12);
    r.note(2, i % 2 == 0 ? 1 : many, i % 2 == 0 ? 1e9 : 1e-12);
    for (const double w : r.weights()) ASSERT_TRUE(std::isfinite(w) && w > 0) << w;
  }
}

TEST(Rates, BelieveAChangeThatLasts) {
  for (const std::uint64_t items : {1u, 30u, 130u, 100'000u}) {
    rates r(1);
    for (int call = 0; call < 20; ++call) r.note(0, call % 2 == 0 ? 102 : 98, 1.);
    for (int call = 0; call < 5; ++call) r.note(0, items, 1.);
    const auto rate = static_cast<double>(items);
    EXPECT_NEAR(r.of(0), rate, 0.05 * rate);
  }
}

TEST(Rates, AverageSamplesThatGoBackAndForth) {
  rates r(1);
  for (int call = 0; call < 60; ++call) {
    r.note(0, call % 2 == 0 ? 800 : 1250, 1.);
    if (call >= 40) {
      EXPECT_NEAR(r.of(0), 1000., 30.) << call;
    }
  }
}

TEST(Rates, CountALongSampleForMoreThanAShortOne) {
  double before = 1'000'000;
  for (const double seconds : {0.001, 0.1, 0.3, 0.6, 1.}) {
    rates r(1);
    r.note(0, 1'000'000, 1.);
    r.note(0, static_cast<std::uint64_t>(1'500'000 * seconds), seconds);
    EXPECT_GT(r.of(0), before * 1.0001) << seconds << " s";
    before = r.of(0);
  }
  EXPECT_NEAR(before, 1'500'000, 1.);
}

// A call of 1,000 items between calls of a million, ten times slower an item since it has hardly begun.
TEST(Rates, HardlyMoveForACallThatIsSmall) {
  rates r(1);
  for (int call = 0; call < 10; ++call) {
    r.note(0, 1'000'000, 1.);
    r.note(0, 1'000, 0.01);
    EXPECT_NEAR(r.of(0), 1'000'000, 50'000);
  }
}

TEST(Rates, GetUsedToSmallCalls) {
  rates r(1);
  r.note(0, 1'000'000, 1.);
  for (int call = 0; call < 20; ++call) r.note(0, 1'000, 0.01);
  EXPECT_NEAR(r.of(0), 100'000, 1'000);
}

// The part of a device that is thought slow is small for that alone.
TEST(Rates, CountTheSmallPartOfADeviceThatIsThoughtSlowInFull) {
  rates r(1);
  r.note(0, 1'000'000, 1.);
  r.note(0, 1'000'000, 100.);
  r.note(0, 10'000, 0.01);
  EXPECT_GT(r.of(0), 50'000);  // half the way, in logarithms, would be 100,000
}

TEST(Rates, GiveAnUnknownDeviceTheMeanOfTheKnown) {
  rates r(4);
  r.note(0, 100, 1.);
  r.note(2, 500, 1.);
  EXPECT_EQ(r.weights(), (std::vector<double>{100, 300, 500, 300}));
}

TEST(Rates, GiveADeviceBelowTheFloorTheFloor) {
  rates r(2);
  r.note(0, 1'000'000, 1.);
  r.note(1, 1, 1000.);
  const double mean = (1e6 + 1e-3) / 2;
  EXPECT_NEAR(r.weights()[1], mean / 1024, 1e-6);
  EXPECT_EQ(r.weights()[0], 1e6);
}

// Two calls' notes alternate here as two devices of one call would make them.
TEST(Rates, DoubleTheFloorWithEveryCallThatPassesADeviceByUpToTheMean) {
  rates r(3);
  r.note(0, 1'000'000, 1.);
  r.note(1, 1'000'000, 1.);
  r.note(2, 1, 1000.);
  const double mean = 2e6 / 3;
  for (int call = 0; call < 15; ++call) {
    EXPECT_NEAR(r.weights()[2], mean * std::min(1., std::exp2(call) / 1024), 1.) << call;
    r.note(1, 1'000'000, 1.);
    r.note(0, 1'000'000, 1.);
  }
}

TEST(Rates, KeepTheFloorWhileTheDeviceIsMeasuredInEveryCall) {
  rates r(2);
  for (int call = 0; call < 50; ++call) {
    r.note(0, 1'000'000, 1.);
    r.note(1, 1, 1000.);
    EXPECT_NEAR(r.weights()[1], 1e6 / 2 / 1024, 1.);
  }
}

// How many calls of `first` alone it takes until the other device's weight is as large as the mean.
int calls_until_the_mean(rates& r) {
  int calls = 0;
  while (r.weights()[1] < 0.4 * r.weights()[0]) {
    r.note(0, 1'000'000, 1.);
    ++calls;
  }
  return calls;
}

TEST(Rates, TryADeviceThatIsSlowAfterAllHalfAsOftenEachTime) {
  rates r(2);
  r.note(0, 1'000'000, 1.);
  r.note(1, 1, 1000.);
  for (int calls = 10; calls <= 10 * 1024; calls *= 2) {
    EXPECT_EQ(calls_until_the_mean(r), calls);
    r.note(1, 1, 1000.);
  }
  EXPECT_EQ(calls_until_the_mean(r), 10 * 1024);  // the limit
}

TEST(Rates, TryADeviceSoonAgainOnceItWasMeasuredTwiceRunning) {
  rates r(2);
  r.note(0, 1'000'000, 1.);
  r.note(1, 1, 1000.);
  for (int tries = 0; tries < 5; ++tries) {
    calls_until_the_mean(r);
    r.note(1, 1, 1000.);
  }
  r.note(0, 1'000'000, 1.);
  r.note(1, 1, 1000.);
  EXPECT_EQ(calls_until_the_mean(r), 10);
}

}  // namespace
}  // namespace heddle::detail
