// SPDX-License-Identifier: Apache-2.0
// Included by heddle/detail/cuda_launch.hpp in the tests that nvcc compiles: gives each of its kernels a host
// function for the double of the CUDA runtime to run. Does nothing on NVIDIA's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fakecudart_twin.hpp"

namespace heddle::detail {

template <std::size_t Rank, class Body, class... Args>
void index_twin(const fakecuda_launch& where, extents<Rank> size, Body body, Args... args) {
  const std::int64_t step = std::int64_t{where.grid.x} * where.block.x;
  for (std::int64_t thread = 0; thread < step; ++thread) {
    for (std::int64_t i = thread; i < size.size(); i += step) {
      if constexpr (Rank == 1) {
        body(i, args...);
      } else if constexpr (Rank == 2) {
        body(i / size[1], i % size[1], args...);
      } else {
        body(i / size[2] / size[1], i / size[2] % size[1], i % size[2], args...);
      }
    }
  }
}

/// A lambda marked __device__ alone has no host code, and gets no twin.
template <std::size_t Rank, class Body, class... Args>
bool bind_index_twin(void (*kernel)(extents<Rank>, Body, Args...)) {
  if constexpr (__nv_is_extended_device_lambda_closure_type(Body)) {
    return false;
  } else {
    return fakecuda::bind<&index_twin<Rank, Body, Args...>>(kernel, "index_kernel");
  }
}

}  // namespace heddle::detail
