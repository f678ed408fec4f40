// SPDX-License-Identifier: Apache-2.0
// What the .cu files of this folder have in common.
#pragma once

#include <cstdint>

#include "heddle/cuda.hpp"
#include "kernels/global.hpp"
#include "kernels/grid.hpp"

namespace heddle::kernels::gpu {

__device__ inline thread_place this_place() { return place_of(blockIdx, gridDim, threadIdx, blockDim); }

constexpr dim3 block_1d{256, 1, 1};
inline dim3 grid_of(const stream& on, std::int64_t n) {
  return dim3(blocks_for(n, block_1d.x, blocks_per_multiprocessor * on.multiprocessors()));
}

/// x runs along a row, so that a warp's accesses are neighbours.
constexpr dim3 block_2d{32, 8, 1};
inline dim3 grid_of(std::int64_t height, std::int64_t width) {
  return dim3(blocks_for(width, block_2d.x, most_blocks_x), blocks_for(height, block_2d.y, most_blocks_y));
}

}  // namespace heddle::kernels::gpu
