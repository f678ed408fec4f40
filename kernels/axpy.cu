// SPDX-License-Identifier: Apache-2.0
#include "kernels/axpy_body.hpp"
#include "kernels/gpu.hpp"
#include "kernels/launch.cuh"

namespace heddle::kernels::gpu {

__global__ void axpy_kernel(float a, const float* x, float* y, std::int64_t n) {
  axpy_thread(this_place(), a, x, y, n);
}

void axpy(const stream& on, float a, const float* x, float* y, std::int64_t n) {
  launch_kernel<&axpy_kernel>(on, grid_of(on, n), block_1d, 0, a, x, y, n);
}

}  // namespace heddle::kernels::gpu
