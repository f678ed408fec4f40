// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/reduction_blocks.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>

namespace heddle::detail {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(ReductionBlocks, AreTheSmallestPowerOfTwoOfRowsThatMakesAtMost1024) {
  for (const std::int64_t row : {1, 3, 640}) {
    for (std::int64_t rows = 1; rows > 0 && rows < (std::int64_t{1} << 45); rows = rows * 5 / 3 + 1) {
      const auto blocks = reduction_blocks_of(rows, row);
      const std::int64_t each = blocks.block / row;
      ASSERT_EQ(blocks.block % row, 0);
      ASSERT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(each)));
      ASSERT_LE(blocks.count, most_reduction_blocks);
      ASSERT_EQ(blocks.count, (rows + each - 1) / each);
      if (each > 1) {
        ASSERT_GT((rows + each / 2 - 1) / (each / 2), most_reduction_blocks) << rows;
      }
    }
  }
}

TEST(ReductionBlocks, HaveLanesOfSixteenIndicesAndMore) {
  for (std::int64_t n = 1; n > 0 && n < (std::int64_t{1} << 45); n = n * 5 / 3 + 1) {
    const auto blocks = reduction_blocks_of(n);
    ASSERT_GE(blocks.lanes, 1);
    ASSERT_LE(blocks.lanes, 256);
    ASSERT_TRUE(blocks.lanes == 1 || blocks.block / blocks.lanes >= 16);
  }
}

// The order of additions, and so the bits of every sum, depend on them.
TEST(ReductionBlocks, StayWhatTheyWereInEarlierReleases) {
  EXPECT_EQ(reduction_blocks_of(1000).block, 1);
  EXPECT_EQ(reduction_blocks_of(1025).block, 2);
  EXPECT_EQ(reduction_blocks_of(1'000'000).block, 1024);
  EXPECT_EQ(reduction_blocks_of(1'000'000).lanes, 64);
  EXPECT_EQ(reduction_blocks_of(100'000'000).block, 131'072);
  EXPECT_EQ(reduction_blocks_of(100'000'000).lanes, 256);
  EXPECT_EQ(reduction_blocks_of(4000, 100).block, 400);
}

TEST(ReductionBlocks, AreNoneForNoIndices) {
  EXPECT_EQ(reduction_blocks_of(0).count, 0);
  EXPECT_EQ(reduction_blocks_of(-1).count, 0);
  EXPECT_EQ(reduction_blocks_of(5, 0).count, 0);
  EXPECT_EQ(reduction_blocks_of(most).count, 1024);
}

}  // namespace
}  // namespace heddle::detail
