// SPDX-License-Identifier: Apache-2.0
// One functor that both compilers see, and what each of them makes of it.
#pragma once

#include <cstdint>

#include "heddle/heddle.hpp"

namespace heddle::test {

struct multiply_add {
  float* out;
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, float factor, float summand) const {
    out[i] = static_cast<float>(i) * factor + summand;
  }
};

// In by_gxx.cpp and by_nvcc.cu alike: all four mean multiply_add.
void launch_by_gxx(const stream& on, float* out, std::int64_t n, float factor, float summand);
void launch_by_nvcc(const stream& on, float* out, std::int64_t n, float factor, float summand);
void launch_in_context_by_gxx(const device_context& context, float* out, std::int64_t n, float factor,
                              float summand);
void launch_in_context_by_nvcc(const device_context& context, float* out, std::int64_t n, float factor,
                               float summand);

// In by_nvcc.cu. out[i] = i + offset, and the flat index in two and three dimensions.
void launch_lambda(const stream& on, float* out, std::int64_t n, float offset);
void launch_device_lambda(const stream& on, float* out, std::int64_t n, float offset);
void launch_over(const stream& on, float* out, extents<2> size);
void launch_over(const stream& on, float* out, extents<3> size);
void put_kernel_on(const stream& on, float* out);

}  // namespace heddle::test
