// SPDX-License-Identifier: Apache-2.0
#include "pure/loop_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace heddle::detail {
namespace {

using places = std::vector<std::size_t>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

double estimate(std::uint64_t n, const std::vector<double>& rates, const places& chosen, double further) {
  double together = 0;
  for (const std::size_t d : chosen) together += rates[d];
  return further * static_cast<double>(chosen.size() - 1) + static_cast<double>(n) / together;
}

// The rule in other words: the least estimate of all sets.
double best_of_all_sets(std::uint64_t n, const std::vector<double>& rates, double further) {
  double best = infinite;
  for (unsigned set = 1; set < 1u << rates.size(); ++set) {
    if (static_cast<std::uint64_t>(std::popcount(set)) > std::max<std::uint64_t>(n, 1)) continue;
    places chosen;
    for (std::size_t d = 0; d < rates.size(); ++d) {
      if ((set >> d & 1u) != 0) chosen.push_back(d);
    }
    best = std::min(best, estimate(n, rates, chosen, further));
  }
  return best;
}

TEST(ChooseDevices, FindsTheLeastEstimateOfAllSets) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<double> rates(1 + random() % 8);
    for (double& r : rates) r = static_cast<double>(1 + random() % 50) * 1e6;
    const std::uint64_t n = random() % (std::uint64_t{1} << random() % 40);
    const double further = static_cast<double>(random() % 100) * 1e-6;
    const places chosen = choose_devices(n, rates, further);
    ASSERT_FALSE(chosen.empty());
    ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    ASSERT_LE(estimate(n, rates, chosen, further), best_of_all_sets(n, rates, further) * (1 + 1e-12))
        << n << " items over " << rates.size();
  }
}

TEST(ChooseDevices, WakesNobodyForASmallLoopAndAllForALargeOne) {
  const std::vector<double> rates(4, 1e9);
  EXPECT_EQ(choose_devices(1'000, rates, 20e-6), (places{0}));
  EXPECT_EQ(choose_devices(100'000, rates, 20e-6), (places{0, 1}));
  EXPECT_EQ(choose_devices(100'000'000, rates, 20e-6), (places{0, 1, 2, 3}));
}

TEST(ChooseDevices, TakesTheFastestFirstInOrderOfPlace) {
  const std::vector<double> rates = {1e6, 4e6, 2e6, 4e6};
  EXPECT_EQ(choose_devices(100, rates, 20e-6), (places{1}));
  EXPECT_EQ(choose_devices(200, rates, 20e-6), (places{1, 3}));
  EXPECT_EQ(choose_devices(1'000, rates, 20e-6), (places{1, 2, 3}));
}

TEST(ChooseDevices, LeavesOutADeviceThatCostsMoreThanItGains) {
  EXPECT_EQ(choose_devices(1'000'000, std::vector<double>{1e9, 1e3, 1e9}, 20e-6), (places{0, 2}));
}

TEST(ChooseDevices, TakesNoMoreDevicesThanThereAreItems) {
  EXPECT_EQ(choose_devices(0, std::vector<double>{1, 2, 2}, 0), (places{1}));
  EXPECT_EQ(choose_devices(1, std::vector<double>{1, 2, 2}, 0), (places{1}));
  EXPECT_EQ(choose_devices(2, std::vector<double>{1, 2, 2}, 0), (places{1, 2}));
}

TEST(ChooseDevices, TakesAllWhenTheyCostNothing) {
  for (const double nothing : {0., -1., -infinite, not_a_number}) {
    EXPECT_EQ(choose_devices(1'000, std::vector<double>{1, 1e9, 5}, nothing), (places{0, 1, 2})) << nothing;
  }
}

TEST(ChooseDevices, TakesOneWhenTheOthersCostForever) {
  EXPECT_EQ(choose_devices(std::numeric_limits<std::uint64_t>::max(), std::vector<double>{1, 2}, infinite),
            (places{1}));
}

TEST(ChooseDevices, TakesAllUntilEveryRateIsKnown) {
  for (const double unknown : {0., -1., not_a_number, infinite}) {
    EXPECT_EQ(choose_devices(1, std::vector<double>{1e9, unknown, 1e9}, 1.), (places{0, 1, 2})) << unknown;
  }
}

TEST(ChooseDevices, TakesTheOnlyOneAndNoneOfNone) {
  EXPECT_EQ(choose_devices(0, std::vector<double>{0}, 1.), (places{0}));
  EXPECT_EQ(choose_devices(1'000, {}, 1.), places{});
}

}  // namespace
}  // namespace heddle::detail
