// SPDX-License-Identifier: Apache-2.0
#include "orientation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace image_batch {
namespace {

constexpr std::array<std::uint8_t, 6> exif_start{'E', 'x', 'i', 'f', 0, 0};

// Numbers of a TIFF block, in its byte order; 0 where the block ends too early.
struct tiff_block {
  std::span<const std::uint8_t> bytes;
  bool big_endian;

  std::uint32_t byte(std::size_t at) const noexcept { return at < bytes.size() ? bytes[at] : 0u; }
  std::uint32_t two(std::size_t at) const noexcept {
    return big_endian ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at);
  }
  std::uint32_t four(std::size_t at) const noexcept {
    return big_endian ? two(at) << 16 | two(at + 2) : two(at + 2) << 16 | two(at);
  }
};

}  // namespace

int exif_orientation(std::span<const std::uint8_t> segment) noexcept {
  if (segment.size() < exif_start.size() ||
      !std::equal(exif_start.begin(), exif_start.end(), segment.begin())) {
    return 1;
  }
  const auto bytes = segment.subspan(exif_start.size());
  const tiff_block tiff{bytes, !bytes.empty() && bytes[0] == 'M'};
  if (tiff.two(2) != 42) return 1;
  const std::size_t directory = tiff.four(4);
  for (std::size_t k = 0; k < tiff.two(directory); ++k) {
    const std::size_t entry = directory + 2 + 12 * k;
    if (tiff.two(entry) != 0x0112) continue;
    const auto value = tiff.two(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

image upright(image picture, int orientation) {
  if (orientation < 2 || orientation > 8) return picture;
  // 5 to 8 exchange the sides. The other two bits say which way each axis of the stored picture runs.
  const bool exchanged = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  image result(exchanged ? picture.height : picture.width, exchanged ? picture.width : picture.height);
  for (int y = 0; y < result.height; ++y) {
    auto* to = result.target().row(y);
    for (int x = 0; x < result.width; ++x, to += 3) {
      int from_x = exchanged ? y : x;
      int from_y = exchanged ? x : y;
      if (from_right) from_x = picture.width - 1 - from_x;
      if (from_bottom) from_y = picture.height - 1 - from_y;
      std::copy_n(picture.view().row(from_y) + std::ptrdiff_t{from_x} * 3, 3, to);
    }
  }
  return result;
}

}  // namespace image_batch
