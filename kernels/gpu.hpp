// SPDX-License-Identifier: Apache-2.0
// The GPU's half of each function of this folder: puts the kernel on a stream of a GPU. Sizes were checked,
// and are not zero. Throws `no_device_code` where the folder was built without nvcc.
#pragma once

#include <chrono>
#include <cstdint>

#include "heddle/stream.hpp"
#include "kernels/image_view.hpp"

namespace heddle::kernels::gpu {

void axpy(const stream& on, float a, const float* x, float* y, std::int64_t n);
void busy(const stream& on, std::chrono::nanoseconds time);
void fill(const stream& on, float value, float* out, std::int64_t n);
/// `partials`: memory of the device for one number of each of `reduce_blocks`.
void reduce(const stream& on, const float* x, std::int64_t n, double* partials, double* sum);
void stencil_2d(const stream& on, float k, const float* in, float* out, std::int64_t height,
                std::int64_t width);
void transpose(const stream& on, const float* in, float* out, std::int64_t height, std::int64_t width);

void resize(const stream& on, image_view in, image_target out);
void sharpen(const stream& on, image_view in, image_target out);
void blur(const stream& on, image_view in, image_target out);
void edges(const stream& on, image_view in, image_target out);

}  // namespace heddle::kernels::gpu
