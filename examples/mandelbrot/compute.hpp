// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "heddle/loop_options.hpp"
#include "heddle/scheduler.hpp"
#include "mandelbrot/pixel.hpp"

namespace mandelbrot {

constexpr int unknown_device = -1;

/// Pixels in C order, and for each the gpu id of the device that computed it.
struct picture {
  std::vector<colour> pixels;
  std::vector<int> made_by;
};

/// Blocks. On GPUs, `made_by` is `unknown_device` unless asked for.
picture compute(heddle::scheduler&, const frame&, const heddle::loop_options&, bool ask_devices);

}  // namespace mandelbrot
