// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.hpp"
#include "kernels/image_filters.hpp"
#include "kernels/image_resize.hpp"

namespace heddle::kernels {

template <class Pixel>
HEDDLE_HOST_DEVICE void image_thread(const thread_place& at, image_view in, image_target out) {
  for (std::int64_t y = at.y; y < out.height; y += at.step_y) {
    for (std::int64_t x = at.x; x < out.width; x += at.step_x) Pixel()(in, out, y, x);
  }
}

}  // namespace heddle::kernels
