// SPDX-License-Identifier: Apache-2.0
// Lane t of block b adds x[b * threads + t], and what follows at a distance of all lanes, in that order; a
// tree adds the lanes of a block, and another one the blocks.
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"

namespace heddle::kernels {

/// Fixed, whatever the device: they decide the order of the additions. Both are powers of two.
constexpr int reduce_blocks = 256;
constexpr int reduce_threads = 256;
static_assert(reduce_blocks == reduce_threads, "one block adds what the blocks found");

HEDDLE_HOST_DEVICE inline double lane_sum(const float* x, std::int64_t n, std::int64_t block,
                                          std::int64_t lane) {
  constexpr std::int64_t lanes = std::int64_t{reduce_blocks} * reduce_threads;
  double sum = 0;
  for (std::int64_t i = block * reduce_threads + lane; i < n; i += lanes) sum += static_cast<double>(x[i]);
  return sum;
}

/// One level of the tree, for one lane: `half` lanes are left after it.
HEDDLE_HOST_DEVICE inline void add_upper_half(double* sums, int lane, int half) {
  if (lane < half) sums[lane] += sums[lane + half];
}

/// All levels, one lane after the other.
inline double tree_sum(double* sums) {
  for (int half = reduce_threads / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) add_upper_half(sums, lane, half);
  }
  return sums[0];
}

}  // namespace heddle::kernels
