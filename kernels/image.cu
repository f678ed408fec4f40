// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu.hpp"
#include "kernels/image_body.hpp"
#include "kernels/launch.cuh"

namespace heddle::kernels::gpu {

__global__ void resize_kernel(image_view in, image_target out) {
  image_thread<resize_pixel>(this_place(), in, out);
}
__global__ void sharpen_kernel(image_view in, image_target out) {
  image_thread<filter_pixel<sharpen_filter>>(this_place(), in, out);
}
__global__ void blur_kernel(image_view in, image_target out) {
  image_thread<filter_pixel<blur_filter>>(this_place(), in, out);
}
__global__ void edges_kernel(image_view in, image_target out) {
  image_thread<filter_pixel<edges_filter>>(this_place(), in, out);
}

namespace {
template <auto Kernel>
void launch(const stream& on, image_view in, image_target out) {
  launch_kernel<Kernel>(on, grid_of(out.height, out.width), block_2d, 0, in, out);
}
}  // namespace

void resize(const stream& on, image_view in, image_target out) { launch<&resize_kernel>(on, in, out); }
void sharpen(const stream& on, image_view in, image_target out) { launch<&sharpen_kernel>(on, in, out); }
void blur(const stream& on, image_view in, image_target out) { launch<&blur_kernel>(on, in, out); }
void edges(const stream& on, image_view in, image_target out) { launch<&edges_kernel>(on, in, out); }

}  // namespace heddle::kernels::gpu
