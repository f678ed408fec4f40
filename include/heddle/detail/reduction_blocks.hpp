// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "heddle/index_range.hpp"

namespace heddle::detail {

/// How a reduction or a scan is cut, by its number of indices alone, so that its bits depend on no number of
/// devices: `count` blocks of `block` indices, the last one perhaps shorter, each of them joined in `lanes`.
struct reduction_blocks {
  std::int64_t block = 1;
  std::int64_t count = 0;
  std::int64_t lanes = 1;

  /// The indices, of `size`, of some blocks.
  constexpr index_range indices_of(index_range blocks, std::int64_t size) const noexcept {
    return {blocks.begin * block, blocks.end < count ? blocks.end * block : size};
  }
};

inline constexpr std::int64_t most_reduction_blocks = 1024;

/// Blocks of whole rows of `row` indices: a power of two of rows, the smallest that makes no more than
/// `most_reduction_blocks`.
constexpr reduction_blocks reduction_blocks_of(std::int64_t rows, std::int64_t row = 1) noexcept {
  if (rows <= 0 || row <= 0) return {};
  std::int64_t block_rows = 1;
  while ((rows - 1) / block_rows + 1 > most_reduction_blocks) block_rows *= 2;
  const std::int64_t block = block_rows * row;
  return {block, (rows - 1) / block_rows + 1, std::clamp<std::int64_t>(block / 16, 1, 256)};
}

}  // namespace heddle::detail
