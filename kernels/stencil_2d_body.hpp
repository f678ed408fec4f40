// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.hpp"

namespace heddle::kernels {

HEDDLE_HOST_DEVICE inline float stencil_value(float k, const float* in, std::int64_t height,
                                              std::int64_t width, std::int64_t y, std::int64_t x) {
  const float* const at = in + y * width + x;
  if (y == 0 || x == 0 || y == height - 1 || x == width - 1) return *at;
  return *at + k * ((at[-width] + at[width]) + (at[-1] + at[1]) - 4 * *at);
}

HEDDLE_HOST_DEVICE inline void stencil_thread(const thread_place& at, float k, const float* in, float* out,
                                              std::int64_t height, std::int64_t width) {
  for (std::int64_t y = at.y; y < height; y += at.step_y) {
    for (std::int64_t x = at.x; x < width; x += at.step_x) {
      out[y * width + x] = stencil_value(k, in, height, width, y, x);
    }
  }
}

}  // namespace heddle::kernels
