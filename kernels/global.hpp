// SPDX-License-Identifier: Apache-2.0
// The kernels themselves. Needs CUDA's headers, not nvcc: other compilers see functions, whose addresses name
// the kernels to the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/image_view.hpp"

namespace heddle::kernels::gpu {

__global__ void axpy_kernel(float a, const float* x, float* y, std::int64_t n);
__global__ void busy_kernel(std::int64_t nanoseconds);
__global__ void fill_kernel(float value, float* out, std::int64_t n);
__global__ void reduce_kernel(const float* x, std::int64_t n, double* partials);
__global__ void reduce_partials_kernel(const double* partials, double* sum);
__global__ void stencil_2d_kernel(float k, const float* in, float* out, std::int64_t height,
                                  std::int64_t width);
__global__ void transpose_kernel(const float* in, float* out, std::int64_t height, std::int64_t width);
__global__ void resize_kernel(image_view in, image_target out);
__global__ void sharpen_kernel(image_view in, image_target out);
__global__ void blur_kernel(image_view in, image_target out);
__global__ void edges_kernel(image_view in, image_target out);

}  // namespace heddle::kernels::gpu
