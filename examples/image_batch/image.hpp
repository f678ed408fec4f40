// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace image_batch {

/// What a row function reads: 8-bit RGB, row after row without gaps. Never owns.
struct image_view {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;

  const std::uint8_t* row(std::int64_t y) const noexcept { return pixels + y * width * 3; }
};

/// What a row function writes. Never owns.
struct target_view {
  std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;

  std::uint8_t* row(std::int64_t y) const noexcept { return pixels + y * width * 3; }
  image_view read() const noexcept { return {pixels, width, height}; }
};

/// Computes row `y` of `out` from the whole of `in`, and nothing else: the rows of a picture may be computed
/// in any order, by any number of threads.
using row_function = void (*)(image_view in, target_view out, std::int64_t y);

/// An 8-bit RGB picture, a plain value. Moving one leaves the pixels where they are in memory, so that a view
/// taken before the move stays good for as long as the moved-to image lives.
struct image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels = {};

  image() = default;

  /// Black. Throws `std::invalid_argument` unless both sides are at least 1.
  image(int columns, int rows) : width(columns), height(rows) {
    if (columns < 1 || rows < 1) throw std::invalid_argument("a picture has at least one pixel");
    pixels.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows) * 3);
  }

  image_view view() const noexcept { return {pixels.data(), width, height}; }
  target_view target() noexcept { return {pixels.data(), width, height}; }

  friend bool operator==(const image&, const image&) = default;
};

}  // namespace image_batch
