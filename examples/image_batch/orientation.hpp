// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "image.hpp"

namespace image_batch {

/// The orientation, 1 to 8, that the APP1 segment of a JPEG file holds (EXIF 2.3, tag 0x0112, in the first
/// directory); 1, upright, for a segment without one, of another kind, or broken. `segment`: without marker
/// and length.
int exif_orientation(std::span<const std::uint8_t> segment) noexcept;

/// The picture turned and mirrored so that it stands upright; the same picture for 1 and unknown numbers.
image upright(image picture, int orientation);

}  // namespace image_batch
