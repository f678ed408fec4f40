// SPDX-License-Identifier: Apache-2.0
#include "pure/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace heddle::detail {
namespace {

__extension__ using signed_wide = __int128;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

const std::vector<std::uint64_t> sizes = {0,
                                          1,
                                          2,
                                          3,
                                          7,
                                          63,
                                          64,
                                          65,
                                          1000,
                                          12345,
                                          (1u << 20) - 1,
                                          1u << 31,
                                          std::uint64_t{1} << 40,
                                          (std::uint64_t{1} << 40) + 7,
                                          std::uint64_t{1} << 63,
                                          std::numeric_limits<std::uint64_t>::max()};
const std::vector<std::int64_t> aligns = {1, 2, 3, 17, 128, 4099, std::int64_t{1} << 33, most};

// Every size, from the lowest begin there is, around 0, and up to the highest end there is.
template <class F>
void for_every_range(F f) {
  for (const std::uint64_t n : sizes) {
    const auto highest = static_cast<std::int64_t>(static_cast<std::uint64_t>(most) - n);
    for (const std::int64_t begin : {least, highest, std::min<std::int64_t>(highest, -5)}) {
      f(index_range{begin, static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) + n)});
    }
  }
}

// What every split has to be, whoever gets how much.
void expect_exact_cover(const std::vector<loop_part>& parts, index_range whole, std::size_t devices,
                        std::int64_t align) {
  ASSERT_EQ(parts.empty(), whole.empty());
  signed_wide at = whole.begin;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ASSERT_EQ(parts[i].range.begin, static_cast<std::int64_t>(at));
    ASSERT_LT(parts[i].range.begin, parts[i].range.end);
    ASSERT_EQ((at - whole.begin) % align, 0);
    ASSERT_LT(parts[i].device, devices);
    if (i > 0) {
      ASSERT_LT(parts[i - 1].device, parts[i].device);
    }
    at = parts[i].range.end;
  }
  if (!whole.empty()) {
    ASSERT_EQ(whole.end, static_cast<std::int64_t>(at));
  }
}

std::vector<std::uint64_t> shares(const std::vector<loop_part>& parts, std::size_t devices) {
  std::vector<std::uint64_t> out(devices);
  for (const loop_part& part : parts) out[part.device] += part.range.size();
  return out;
}

// |share * total - n * weight| <= align * total: whole numbers, exact in 128 bits.
void expect_near_ideal(const std::vector<std::uint64_t>& share, std::uint64_t n,
                       const std::vector<std::uint32_t>& weights, std::int64_t align) {
  const auto total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  for (std::size_t d = 0; d < share.size(); ++d) {
    const signed_wide off = signed_wide{share[d]} * total - signed_wide{n} * weights[d];
    ASSERT_LE(off < 0 ? -off : off, signed_wide{align} * total) << "device " << d << " has " << share[d];
    if (weights[d] == 0) {
      ASSERT_EQ(share[d], 0u);
    }
  }
}

// Whole weights of 1 to 64 devices: equal, of any size, and with many zeros, but not all.
std::vector<std::uint32_t> random_weights(std::mt19937_64& random) {
  std::vector<std::uint32_t> out(1 + random() % 64);
  const auto kind = random() % 3;
  for (auto& w : out) {
    const auto any = static_cast<std::uint32_t>(random() % 65536);
    w = kind == 0 ? 1 : kind == 1 ? any : random() % 2 == 0 ? 0 : any;
  }
  out[random() % out.size()] |= 1u;
  return out;
}

TEST(IndexRange, CountsEveryIndexOfTheWidestRange) {
  static_assert(index_range{least, most}.size() == std::numeric_limits<std::uint64_t>::max());
  static_assert(index_range{most, least}.size() == 0 && index_range{most, least}.empty());
  static_assert(index_range{-2, 1}.size() == 3 && !index_range{-2, 1}.empty());
  static_assert(index_range{} == index_range{0, 0} && !(index_range{1, 1} == index_range{2, 2}));
}

TEST(SplitByWeight, CoversExactlyAndAlignedNearTheIdealForAnyWeights) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for_every_range([&](index_range whole) {
    for (const std::int64_t align : aligns) {
      for (int round = 0; round < 8; ++round) {
        const auto weights = random_weights(random);
        const auto parts = split_by_weight(whole, std::vector<double>(weights.begin(), weights.end()), align);
        SCOPED_TRACE(std::to_string(whole.size()) + " over " + std::to_string(weights.size()) + ", align " +
                     std::to_string(align));
        ASSERT_NO_FATAL_FAILURE(expect_exact_cover(parts, whole, weights.size(), align));
        ASSERT_NO_FATAL_FAILURE(
            expect_near_ideal(shares(parts, weights.size()), whole.size(), weights, align));
      }
    }
  });
}

TEST(SplitByWeight, DependsOnTheRatiosOfTheWeightsAlone) {
  const std::vector<loop_part> expected = {{0, {0, 1}}, {1, {1, 3}}, {2, {3, 7}}};
  for (const double scale : {1e-307, 1e-9, 1., 3e300}) {
    EXPECT_EQ(split_by_weight({0, 7}, std::vector{scale, 2 * scale, 4 * scale}), expected) << scale;
  }
}

TEST(SplitByWeight, GivesNothingToWeightsThatAreNotPositiveFiniteNumbers) {
  const std::vector<double> weights = {-1., not_a_number, 3., 0., infinite, 1., -infinite};
  EXPECT_EQ(split_by_weight({0, 8}, weights), (std::vector<loop_part>{{2, {0, 6}}, {5, {6, 8}}}));
}

TEST(SplitByWeight, IsEvenWhenNoWeightIsAPositiveFiniteNumber) {
  for (const double w : {0., -1., not_a_number, infinite}) {
    EXPECT_EQ(split_by_weight({5, 105}, std::vector<double>(7, w), 3), split_evenly({5, 105}, 7, 3)) << w;
  }
}

TEST(SplitByWeight, GivesTheFastestTheOnlyItem) {
  const std::vector<loop_part> expected = {{1, {9, 10}}};
  EXPECT_EQ(split_by_weight({9, 10}, std::vector<double>{1, 9, 1}), expected);
}

TEST(SplitByWeight, HasNoPartsWithoutDevicesOrWithoutIndices) {
  EXPECT_TRUE(split_by_weight({0, 10}, {}).empty());
  EXPECT_TRUE(split_by_weight({10, 0}, std::vector<double>{1, 2}).empty());
}

TEST(SplitByWeight, TakesAnAlignBelowOneAsOne) {
  const std::vector<double> weights = {1, 2, 4};
  for (const std::int64_t align : {std::int64_t{0}, std::int64_t{-3}, least}) {
    EXPECT_EQ(split_by_weight({0, 100}, weights, align), split_by_weight({0, 100}, weights, 1));
  }
}

TEST(SplitEvenly, CoversExactlyAndAlignedNearTheIdeal) {
  for_every_range([](index_range whole) {
    for (const std::int64_t align : aligns) {
      for (std::size_t devices = 1; devices <= 64; ++devices) {
        const auto parts = split_evenly(whole, devices, align);
        SCOPED_TRACE(std::to_string(whole.size()) + " over " + std::to_string(devices) + ", align " +
                     std::to_string(align));
        ASSERT_NO_FATAL_FAILURE(expect_exact_cover(parts, whole, devices, align));
        ASSERT_NO_FATAL_FAILURE(expect_near_ideal(shares(parts, devices), whole.size(),
                                                  std::vector<std::uint32_t>(devices, 1), align));
      }
    }
  });
}

TEST(SplitEvenly, GivesTheLargestShareNoMoreThanRoundedUp) {
  for (std::uint64_t n = 0; n < 200; ++n) {
    for (std::uint64_t devices = 1; devices <= 20; ++devices) {
      for (std::uint64_t align = 1; align <= 9; ++align) {
        const auto share =
            shares(split_evenly({0, static_cast<std::int64_t>(n)}, devices, static_cast<std::int64_t>(align)),
                   devices);
        const std::uint64_t units = (n + align - 1) / align;
        const std::uint64_t bound = (units + devices - 1) / devices * align;
        ASSERT_LE(*std::max_element(share.begin(), share.end()), bound) << n << " over " << devices;
      }
    }
  }
}

TEST(SplitEvenly, StartsWithTheFirstDeviceWhenThereAreFewItems) {
  EXPECT_EQ(split_evenly({0, 2}, 5), (std::vector<loop_part>{{0, {0, 1}}, {1, {1, 2}}}));
  EXPECT_EQ(split_evenly({0, 5}, 5, 8), (std::vector<loop_part>{{0, {0, 5}}}));
}

TEST(SplitEvenly, HasNoPartsWithoutDevices) { EXPECT_TRUE(split_evenly({0, 10}, 0).empty()); }

TEST(Chunks, CoverExactlyInOrderForEveryRange) {
  for_every_range([](index_range whole) {
    for (const std::int64_t chunk : aligns) {
      const std::uint64_t count = chunk_count(whole, chunk);
      ASSERT_EQ(count, whole.size() / static_cast<std::uint64_t>(chunk) +
                           (whole.size() % static_cast<std::uint64_t>(chunk) != 0));
      // All of them, or the first and the last thousand.
      std::int64_t end = whole.begin;
      for (std::uint64_t k = 0; k < count; ++k) {
        if (k == 1000 && count > 2000) {
          k = count - 1000;
          end = chunk_at(whole, chunk, k - 1).end;
        }
        const index_range part = chunk_at(whole, chunk, k);
        ASSERT_EQ(part.begin, end);
        ASSERT_EQ(static_cast<std::uint64_t>(part.begin) - static_cast<std::uint64_t>(whole.begin),
                  k * static_cast<std::uint64_t>(chunk));
        if (k + 1 < count) {
          ASSERT_EQ(part.size(), static_cast<std::uint64_t>(chunk));
        }
        ASSERT_FALSE(part.empty());
        end = part.end;
      }
      if (count > 0) {
        ASSERT_EQ(end, whole.end);
      }
    }
  });
}

TEST(Chunks, AreEmptyPastTheLastOne) {
  for (const std::uint64_t k : {std::uint64_t{4}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(chunk_at({0, 10}, 3, k), (index_range{10, 10}));
  }
  EXPECT_EQ(chunk_at({7, 3}, 3, 0), (index_range{7, 7}));
}

TEST(Chunks, HoldOneItemWhenTheSizeIsBelowOne) {
  for (const std::int64_t chunk : {std::int64_t{0}, least}) {
    EXPECT_EQ(chunk_count({0, 10}, chunk), 10u);
    EXPECT_EQ(chunk_at({0, 10}, chunk, 9), (index_range{9, 10}));
  }
}

}  // namespace
}  // namespace heddle::detail
