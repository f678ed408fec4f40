// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu.hpp"
#include "kernels/launch.cuh"
#include "kernels/stencil_2d_body.hpp"

namespace heddle::kernels::gpu {

__global__ void stencil_2d_kernel(float k, const float* in, float* out, std::int64_t height,
                                  std::int64_t width) {
  stencil_thread(this_place(), k, in, out, height, width);
}

void stencil_2d(const stream& on, float k, const float* in, float* out, std::int64_t height,
                std::int64_t width) {
  launch_kernel<&stencil_2d_kernel>(on, grid_of(height, width), block_2d, 0, k, in, out, height, width);
}

}  // namespace heddle::kernels::gpu
