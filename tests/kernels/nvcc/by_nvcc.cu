// SPDX-License-Identifier: Apache-2.0
// Free functions: nvcc takes no lambda for devices inside a private function, as each of GoogleTest's is.
#include "bodies.hpp"
#include "heddle/cuda.hpp"

namespace heddle::test {

void launch_by_nvcc(const stream& on, float* out, std::int64_t n, float factor, float summand) {
  on.launch(n, multiply_add{out}, factor, summand);
}

void launch_in_context_by_nvcc(const device_context& context, float* out, std::int64_t n, float factor,
                               float summand) {
  context.launch(n, multiply_add{out}, factor, summand);
}

void launch_lambda(const stream& on, float* out, std::int64_t n, float offset) {
  on.launch(n, [out, offset] HEDDLE_HOST_DEVICE(std::int64_t i) { out[i] = static_cast<float>(i) + offset; });
}

void launch_device_lambda(const stream& on, float* out, std::int64_t n, float offset) {
  on.launch(n, [out, offset] HEDDLE_DEVICE(std::int64_t i) { out[i] = static_cast<float>(i) + offset; });
}

void launch_over(const stream& on, float* out, extents<2> size) {
  on.launch(size, [out, size] HEDDLE_HOST_DEVICE(std::int64_t y, std::int64_t x) {
    out[y * size[1] + x] += static_cast<float>(y * size[1] + x);
  });
}

void launch_over(const stream& on, float* out, extents<3> size) {
  on.launch(size, [out, size] HEDDLE_HOST_DEVICE(std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::int64_t i = (z * size[1] + y) * size[2] + x;
    out[i] += static_cast<float>(i);
  });
}

namespace {
__global__ void one_kernel(float* out) { *out = 1; }
}  // namespace

void put_kernel_on(const stream& on, float* out) { launch_kernel<&one_kernel>(on, dim3(1), dim3(1), 0, out); }

}  // namespace heddle::test
