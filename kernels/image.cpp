// SPDX-License-Identifier: Apache-2.0
#include "kernels/image.hpp"

#include <cstdint>
#include <string>

#include "heddle/error.hpp"
#include "heddle/extents.hpp"
#include "kernels/gpu.hpp"
#include "kernels/image_body.hpp"

namespace heddle::kernels {
namespace {

using gpu_half = void (*)(const stream& on, image_view in, image_target out);

void check_sides(const char* function, image_view picture) {
  if (picture.width >= 1 && picture.height >= 1) return;
  throw invalid_option(std::string(function) + ": a picture of " + std::to_string(picture.width) + " x " +
                       std::to_string(picture.height) + " pixels: each side must be at least 1");
}

void check_same_size(const char* function, image_view in, image_view out) {
  if (in.width == out.width && in.height == out.height) return;
  throw invalid_option(std::string(function) + ": the result is " + std::to_string(out.width) + " x " +
                       std::to_string(out.height) + " pixels, and must be " + std::to_string(in.width) +
                       " x " + std::to_string(in.height) + ", as the picture is");
}

template <class Pixel>
void make(const device_context& context, image_view in, image_target out, gpu_half on_gpu) {
  const auto on = context.stream();
  if (!on.on_host()) return on_gpu(on, in, out);
  on.launch(out.height, [in, out](std::int64_t y) {
    for (std::int64_t x = 0; x < out.width; ++x) Pixel()(in, out, y, x);
  });
}

template <class Filter>
void filter(const char* function, const device_context& context, image_view in, image_target out,
            gpu_half on_gpu) {
  check_sides(function, in);
  check_same_size(function, in, out.read());
  make<filter_pixel<Filter>>(context, in, out, on_gpu);
}

}  // namespace

void resize(const device_context& context, image_view in, image_target out) {
  check_sides("resize", in);
  check_sides("resize", out.read());
  make<resize_pixel>(context, in, out, gpu::resize);
}

void sharpen(const device_context& context, image_view in, image_target out) {
  filter<sharpen_filter>("sharpen", context, in, out, gpu::sharpen);
}

void blur(const device_context& context, image_view in, image_target out) {
  filter<blur_filter>("blur", context, in, out, gpu::blur);
}

void edges(const device_context& context, image_view in, image_target out) {
  filter<edges_filter>("edges", context, in, out, gpu::edges);
}

}  // namespace heddle::kernels
