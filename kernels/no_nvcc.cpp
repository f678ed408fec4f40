// SPDX-License-Identifier: Apache-2.0
// In place of the .cu files, where there is no nvcc.
#include <string>

#include "heddle/error.hpp"
#include "kernels/gpu.hpp"

namespace heddle::kernels::gpu {
namespace {
[[noreturn]] void refuse(const stream& on, const char* function) {
  throw no_device_code(std::string(function) + " on device " + std::to_string(on.device_id()) +
                       ", a GPU: this build has no device code; build it with nvcc");
}
}  // namespace

void axpy(const stream& on, float, const float*, float*, std::int64_t) { refuse(on, "axpy"); }
void busy(const stream& on, std::chrono::nanoseconds) { refuse(on, "busy"); }
void fill(const stream& on, float, float*, std::int64_t) { refuse(on, "fill"); }
void reduce(const stream& on, const float*, std::int64_t, double*, double*) { refuse(on, "reduce"); }
void stencil_2d(const stream& on, float, const float*, float*, std::int64_t, std::int64_t) {
  refuse(on, "stencil_2d");
}
void transpose(const stream& on, const float*, float*, std::int64_t, std::int64_t) {
  refuse(on, "transpose");
}
void resize(const stream& on, image_view, image_target) { refuse(on, "resize"); }
void sharpen(const stream& on, image_view, image_target) { refuse(on, "sharpen"); }
void blur(const stream& on, image_view, image_target) { refuse(on, "blur"); }
void edges(const stream& on, image_view, image_target) { refuse(on, "edges"); }

}  // namespace heddle::kernels::gpu
