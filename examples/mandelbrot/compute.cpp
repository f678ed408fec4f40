// SPDX-License-Identifier: Apache-2.0
#include "mandelbrot/compute.hpp"

#include <cstddef>
#include <cstdint>

#include "heddle/heddle.hpp"

namespace mandelbrot {
namespace {

/// The gpu id of the device that runs this. Only host code can ask: a kernel knows nothing of heddle.
HEDDLE_HOST_DEVICE inline int device_here() {
#if defined(__CUDA_ARCH__)
  return unknown_device;
#else
  return heddle::this_device::try_id().value_or(unknown_device);
#endif
}

/// The body for one pixel.
struct draw_pixel {
  frame f;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t y, std::int64_t x, heddle::view<colour> pixels,
                                     heddle::view<int> made_by) const {
    pixels(y, x) = colour_of_pixel(f, y, x);
    made_by(y, x) = device_here();
  }
};

/// The same for one pixel of a chunk, where the host, which knows the device, has said its id.
struct draw_and_sign {
  frame f;
  std::int64_t begin;
  int device;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, heddle::view<colour> pixels,
                                     heddle::view<int> made_by) const {
    const std::int64_t i = begin + k;
    pixels[i] = colour_of_pixel(f, i / f.width, i % f.width);
    made_by[i] = device;
  }
};

}  // namespace

picture compute(heddle::scheduler& sched, const frame& f, const heddle::loop_options& how, bool ask_devices) {
  const heddle::extents size{f.height, f.width};
  picture all{std::vector<colour>(static_cast<std::size_t>(size.size())),
              std::vector<int>(static_cast<std::size_t>(size.size()))};
  if (ask_devices && sched.devices().front().kind == heddle::backend::cuda) {
    const auto draw_chunk = [f](heddle::device_context& device, heddle::index_range part,
                                heddle::view<colour> pixels, heddle::view<int> made_by) {
      device.launch(part.size(), draw_and_sign{f, part.begin, device.id()}, pixels, made_by);
    };
    heddle::for_each_chunk(sched, size.size(), how, draw_chunk, heddle::out(all.pixels),
                           heddle::out(all.made_by));
  } else {
    heddle::parallel_for(sched, size, how, draw_pixel{f}, heddle::out(all.pixels), heddle::out(all.made_by));
  }
  return all;
}

}  // namespace mandelbrot
