// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "heddle/device_code.hpp"

namespace heddle::kernels {

/// What one thread of a grid does: in each dimension the indices `x`, `x + step_x`, … 64 bits, since a grid's
/// sizes have 32 and their products have not.
struct thread_place {
  std::int64_t x;
  std::int64_t y;
  std::int64_t step_x;
  std::int64_t step_y;
};

/// From blockIdx, gridDim, threadIdx and blockDim, or what stands for them.
template <class Index, class Sizes, class ThreadIndex, class ThreadSizes>
HEDDLE_HOST_DEVICE constexpr thread_place place_of(const Index& block, const Sizes& blocks,
                                                   const ThreadIndex& thread, const ThreadSizes& threads) {
  return {static_cast<std::int64_t>(block.x) * threads.x + thread.x,
          static_cast<std::int64_t>(block.y) * threads.y + thread.y,
          static_cast<std::int64_t>(blocks.x) * threads.x, static_cast<std::int64_t>(blocks.y) * threads.y};
}

/// How many pieces of `piece` cover `n`, and the last of them `n`'s end.
HEDDLE_HOST_DEVICE constexpr std::int64_t pieces_of(std::int64_t n, std::int64_t piece) {
  return n / piece + (n % piece != 0 ? 1 : 0);
}

/// Blocks of `threads` for `n` indices, at most `most`: threads take several indices then. At least 1.
constexpr unsigned blocks_for(std::int64_t n, std::int64_t threads, std::int64_t most) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(pieces_of(n, threads), 1, std::max<std::int64_t>(most, 1)));
}

/// Of a grid, in x and in y.
constexpr std::int64_t most_blocks_x = 0x7fffffff;
constexpr std::int64_t most_blocks_y = 65535;
/// Enough to fill a multiprocessor.
constexpr std::int64_t blocks_per_multiprocessor = 32;

}  // namespace heddle::kernels
