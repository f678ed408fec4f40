// SPDX-License-Identifier: Apache-2.0
// What the double runs in place of the kernel in docs/cuda.md.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "fakecudart_twin.hpp"

__global__ void add_one(int* x, std::int64_t n);

namespace {

void add_one_twin(const fakecuda_launch& where, int* x, std::int64_t n) {
  const std::int64_t threads = std::int64_t{where.grid.x} * where.block.x;
  for (std::int64_t i = 0; i < threads && i < n; ++i) x[i] += 1;
}

[[maybe_unused]] const bool bound = fakecuda::bind<&add_one_twin>(&add_one, "add_one");

}  // namespace
