// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "image_batch/image.hpp"
#include "mandelbrot/compute.hpp"

namespace mandelbrot {

/// How many pixels a device made.
struct device_share {
  int id;
  std::int64_t pixels;
};

/// The picture as it is.
image_batch::image plain_image(const picture&, const frame&);

/// The picture in the colours of the devices that made it; below it a bar, divided as the pixels are, with
/// the gpu ids as the key to the colours.
image_batch::image tinted_image(const picture&, const frame&, const std::vector<device_share>&);

}  // namespace mandelbrot
