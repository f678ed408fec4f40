// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.hpp"

namespace heddle::kernels {

HEDDLE_HOST_DEVICE inline float axpy_value(float a, float x, float y) { return a * x + y; }

HEDDLE_HOST_DEVICE inline void axpy_thread(const thread_place& at, float a, const float* x, float* y,
                                           std::int64_t n) {
  for (std::int64_t i = at.x; i < n; i += at.step_x) y[i] = axpy_value(a, x[i], y[i]);
}

}  // namespace heddle::kernels
