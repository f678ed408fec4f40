// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "image.hpp"

namespace image_batch {

/// What is done to each picture after it was resized.
enum class operation {
  sharpen,  ///< unsharp mask: three quarters of the difference to a 3 x 3 blur are added
  blur,     ///< binomial blur over 5 x 5 pixels
  edges,    ///< how steep each colour channel is (Sobel), bright on black
  none,     ///< as it is
};

/// The function that computes one row of the operation; `in` and `out` have the same size and do not overlap.
/// Beyond the border the nearest pixel counts. Integers only, so that every machine agrees.
row_function row_of(operation what) noexcept;

}  // namespace image_batch
