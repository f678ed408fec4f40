// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "image.hpp"

namespace image_batch {

struct picture_size {
  int width = 0;
  int height = 0;

  friend bool operator==(const picture_size&, const picture_size&) = default;
};

/// The largest size of the same shape that fits into `box`, each side at least 1; never larger than the
/// picture. All sides at least 1.
picture_size fit(picture_size picture, picture_size box) noexcept;

/// Row `y` of `in` shrunk to the size of `out`: each pixel is the mean of the rectangle of `in` that it
/// covers, parts of pixels weighed by their area, rounded to nearest. Integers only, so that every machine
/// agrees.
void resize_row(image_view in, target_view out, std::int64_t y);

}  // namespace image_batch
