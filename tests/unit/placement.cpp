// SPDX-License-Identifier: Apache-2.0
#include "pure/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle::detail {
namespace {

constexpr auto huge = std::numeric_limits<std::size_t>::max();

std::vector<std::uint8_t> all_of(std::size_t n) { return std::vector<std::uint8_t>(n, 1); }

TEST(HomeOfKey, IsNowhereWhenNoDeviceIsUsable) {
  EXPECT_EQ(home_of_key(7, {}), std::nullopt);
  EXPECT_EQ(home_of_key(7, std::vector<std::uint8_t>{0, 0, 0}), std::nullopt);
}

TEST(HomeOfKey, IsAUsableDeviceForEverySetOfSix) {
  for (unsigned set = 1; set < 64; ++set) {
    std::vector<std::uint8_t> usable;
    for (unsigned d = 0; d < 6; ++d) usable.push_back(set >> d & 1u);
    for (std::uint64_t key = 0; key < 200; ++key) ASSERT_NE(usable[home_of_key(key, usable).value()], 0);
  }
}

TEST(HomeOfKey, MovesOnlyTheKeysOfADeviceThatGoes) {
  for (std::size_t devices = 1; devices <= 9; ++devices) {
    for (std::size_t gone = 0; gone < devices; ++gone) {
      auto usable = all_of(devices);
      usable[gone] = 0;
      for (std::uint64_t key = 0; key < 500; ++key) {
        const auto before = home_of_key(key, all_of(devices));
        const auto after = home_of_key(key, usable);
        ASSERT_TRUE(before == gone || after == before) << "key " << key;
      }
    }
  }
}

TEST(HomeOfKey, KeepsHomesWhenMoreDevicesJoinExceptForKeysTheyTake) {
  for (std::uint64_t key = 0; key < 5000; ++key) {
    const auto of_three = home_of_key(key, all_of(3));
    const auto of_four = home_of_key(key, all_of(4));
    ASSERT_TRUE(of_four == 3u || of_four == of_three) << "key " << key;
  }
}

// Every device gets within a tenth of its even share: ten standard deviations at 10,000 keys a device.
void expect_balance(std::size_t devices, std::uint64_t first, std::uint64_t step) {
  std::vector<std::size_t> keys(devices);
  const auto usable = all_of(devices);
  for (std::uint64_t k = 0; k < 10000 * devices; ++k) ++keys[home_of_key(first + k * step, usable).value()];
  for (const std::size_t n : keys) {
    EXPECT_GT(n, 9000u) << devices << " devices, step " << step;
    EXPECT_LT(n, 11000u) << devices << " devices, step " << step;
  }
}

TEST(HomeOfKey, BalancesConsecutiveKeys) {
  for (std::size_t devices = 2; devices <= 16; ++devices) expect_balance(devices, 0, 1);
}

TEST(HomeOfKey, BalancesKeysThatAreMultiplesOfPowersOfTwo) {
  for (std::uint64_t shift = 1; shift <= 40; shift += 13) expect_balance(8, 0, std::uint64_t{1} << shift);
}

TEST(HomeOfKey, BalancesKeysThatStepAsTheMixerDoes) { expect_balance(8, 0, 0x9e3779b97f4a7c15u); }

TEST(HomeOfKey, BalancesFromARandomStart) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  expect_balance(7, random(), random() | 1u);
}

TEST(HomeOfKey, SpreadsTheKeysOfALostDeviceOverTheOthers) {
  auto usable = all_of(5);
  usable[2] = 0;
  std::vector<std::size_t> heirs(5);
  for (std::uint64_t key = 0; key < 100000; ++key) {
    if (home_of_key(key, all_of(5)) == 2u) ++heirs[home_of_key(key, usable).value()];
  }
  for (const std::size_t d : {0u, 1u, 3u, 4u}) EXPECT_NEAR(static_cast<double>(heirs[d]), 5000., 700.);
}

TEST(HomeOfKey, StaysWhatItWasInEarlierReleases) {
  std::vector<std::size_t> homes;
  for (std::uint64_t key = 0; key < 10; ++key) homes.push_back(home_of_key(key, all_of(4)).value());
  EXPECT_EQ(homes, (std::vector<std::size_t>{1, 1, 2, 3, 2, 0, 3, 0, 2, 0}));
}

TEST(Spills, AgreesWithItsDefinitionForEverySmallInput) {
  for (std::size_t home = 0; home < 20; ++home) {
    for (std::size_t least = 0; least < 20; ++least) {
      for (std::size_t window = 1; window < 20; ++window) {
        ASSERT_EQ(spills(home, least, window), home >= least + window);
      }
    }
  }
}

TEST(Spills, NeverHappensBetweenEqualDevices) { EXPECT_FALSE(spills(3, 3, 0)); }

TEST(Spills, DoesNotOverflow) {
  EXPECT_FALSE(spills(huge, huge - 1, 2));
  EXPECT_TRUE(spills(huge, 0, huge));
}

TEST(NextChunk, IsAFourthOfADevicesShareOfWhatIsLeftRoundedUp) {
  for (std::size_t n = 0; n < 300; ++n) {
    for (std::size_t devices = 1; devices < 20; ++devices) {
      const std::size_t first = (n + 4 * devices - 1) / (4 * devices);
      for (std::size_t left = 0; left <= n; ++left) {
        const std::size_t share = (left + 4 * devices - 1) / (4 * devices);
        ASSERT_EQ(next_chunk(left, n, devices), std::max<std::size_t>({share, (first + 15) / 16, 1}))
            << left << " of " << n << " over " << devices;
      }
    }
  }
}

// However many calls there are, the number of items is bounded, and the last ones are short.
TEST(NextChunk, GetsShorterTowardsTheEnd) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{123'456'789}, huge}) {
    std::size_t items = 0, last = huge;
    for (std::size_t left = n; left > 0; ++items) {
      const std::size_t now = std::min(left, next_chunk(left, n, 8));
      ASSERT_LE(now, last);
      last = now;
      left -= now;
    }
    EXPECT_LE(last, n / (64 * 8) + 1);
    EXPECT_LE(items, 16u * 8) << n;
  }
}

TEST(NextChunk, IsAtLeastOneForNoItemsAndNoDevices) {
  EXPECT_EQ(next_chunk(0, 0, 2), 1u);
  EXPECT_EQ(next_chunk(0, 0, 0), 1u);
}

TEST(NextChunk, DoesNotOverflow) {
  EXPECT_EQ(next_chunk(huge, huge, 1), huge / 4 + 1);
  EXPECT_EQ(next_chunk(huge, huge, huge), 1u);
}

TEST(NextStream, IsAFirstMinimumFromTheStartForEverySmallInput) {
  for (std::size_t code = 0; code < 3 * 3 * 3 * 3; ++code) {
    const std::vector<std::size_t> load = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
    for (std::size_t start = 0; start < 9; ++start) {
      const std::size_t least = *std::min_element(load.begin(), load.end());
      std::size_t expected = start;
      while (load[expected % 4] != least) ++expected;
      ASSERT_EQ(next_stream(load, start), expected % 4) << "input " << code << ", start " << start;
    }
  }
}

TEST(NextStream, UsesEveryStreamInTurnWhenAllAreEqual) {
  const std::vector<std::size_t> idle(5);
  for (std::size_t start = 0; start < 15; ++start) EXPECT_EQ(next_stream(idle, start), start % 5);
}

}  // namespace
}  // namespace heddle::detail
