// SPDX-License-Identifier: Apache-2.0
#include "kernels/fill_body.hpp"
#include "kernels/gpu.hpp"
#include "kernels/launch.cuh"

namespace heddle::kernels::gpu {

__global__ void fill_kernel(float value, float* out, std::int64_t n) {
  fill_thread(this_place(), value, out, n);
}

void fill(const stream& on, float value, float* out, std::int64_t n) {
  launch_kernel<&fill_kernel>(on, grid_of(on, n), block_1d, 0, value, out, n);
}

}  // namespace heddle::kernels::gpu
