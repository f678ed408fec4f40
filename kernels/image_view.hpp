// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"

namespace heddle::kernels {

/// An 8-bit RGB picture to read, row after row without gaps. Never owns.
struct image_view {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;

  HEDDLE_HOST_DEVICE const std::uint8_t* row(std::int64_t y) const noexcept { return pixels + y * width * 3; }
};

/// One to write.
struct image_target {
  std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;

  HEDDLE_HOST_DEVICE std::uint8_t* row(std::int64_t y) const noexcept { return pixels + y * width * 3; }
  HEDDLE_HOST_DEVICE image_view read() const noexcept { return {pixels, width, height}; }
};

}  // namespace heddle::kernels
