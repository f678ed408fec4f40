// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_code.hpp"
#include "heddle/scheduler.hpp"

namespace saxpy_file {

/// a x + y, rounded after each operation: GPUs would round once, and have other bits than host devices.
HEDDLE_HOST_DEVICE inline float axpy(float a, float x, float y) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fmul_rn(a, x), y);
#else
  return a * x + y;
#endif
}

/// Numbers that look irregular, for `x` and `y` of the same size. Blocks.
void make_numbers(heddle::scheduler&, std::span<float> x, std::span<float> y);

/// y = a x + y, for `x` and `y` of the same size. Blocks.
void add_multiple(heddle::scheduler&, float a, std::span<const float> x, std::span<float> y);

}  // namespace saxpy_file
