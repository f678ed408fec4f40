// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.hpp"

namespace heddle::kernels {

constexpr int tile_side = 32;
/// A block's threads: one row of the tile each, and every eighth row.
constexpr int tile_rows_at_once = 8;

/// One column more than is used, so that the numbers of a column lie in distinct banks of shared memory.
using tile = float[tile_side][tile_side + 1];

struct tile_index {
  std::int64_t y;
  std::int64_t x;
};

/// Thread (`x`, `y`) of a block reads its part of a tile of `in`.
HEDDLE_HOST_DEVICE inline void read_tile(tile& part, tile_index at, int x, int y, const float* in,
                                         std::int64_t height, std::int64_t width) {
  const std::int64_t column = at.x * tile_side + x;
  for (int row = y; row < tile_side && at.y * tile_side + row < height; row += tile_rows_at_once) {
    if (column < width) part[row][x] = in[(at.y * tile_side + row) * width + column];
  }
}

/// And writes its part of the turned tile, of a matrix with rows of `height`.
HEDDLE_HOST_DEVICE inline void write_tile(const tile& part, tile_index at, int x, int y, float* out,
                                          std::int64_t height, std::int64_t width) {
  const std::int64_t column = at.y * tile_side + x;
  for (int row = y; row < tile_side && at.x * tile_side + row < width; row += tile_rows_at_once) {
    if (column < height) out[(at.x * tile_side + row) * height + column] = part[x][row];
  }
}

/// One thread after the other in place of a block.
inline void transpose_tile(tile_index at, const float* in, float* out, std::int64_t height,
                           std::int64_t width) {
  tile part;
  for (int y = 0; y < tile_rows_at_once; ++y) {
    for (int x = 0; x < tile_side; ++x) read_tile(part, at, x, y, in, height, width);
  }
  for (int y = 0; y < tile_rows_at_once; ++y) {
    for (int x = 0; x < tile_side; ++x) write_tile(part, at, x, y, out, height, width);
  }
}

}  // namespace heddle::kernels
