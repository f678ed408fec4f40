// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"
#include "kernels/image_view.hpp"

namespace heddle::kernels {

/// A stretch of source pixels, in units in which one source pixel is `unit` long.
struct stretch {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t unit;

  HEDDLE_HOST_DEVICE std::int64_t first() const { return begin / unit; }
  HEDDLE_HOST_DEVICE std::int64_t last() const { return (end - 1) / unit; }
  HEDDLE_HOST_DEVICE std::int64_t weight(std::int64_t at) const {
    const std::int64_t to = (at + 1) * unit < end ? (at + 1) * unit : end;
    const std::int64_t from = at * unit > begin ? at * unit : begin;
    return to - from;
  }
};

struct colour_sum {
  std::int64_t red = 0;
  std::int64_t green = 0;
  std::int64_t blue = 0;

  HEDDLE_HOST_DEVICE void add(const std::uint8_t* pixel, std::int64_t weight) {
    red += weight * pixel[0];
    green += weight * pixel[1];
    blue += weight * pixel[2];
  }
  HEDDLE_HOST_DEVICE void add(const colour_sum& other, std::int64_t weight) {
    red += weight * other.red;
    green += weight * other.green;
    blue += weight * other.blue;
  }
};

/// All pixels between the first and the last weigh the same, which leaves one addition for each.
HEDDLE_HOST_DEVICE inline colour_sum sum_of_row(const std::uint8_t* row, const stretch& across) {
  colour_sum sum;
  const std::int64_t first = across.first();
  const std::int64_t last = across.last();
  sum.add(row + first * 3, across.weight(first));
  if (first == last) return sum;
  colour_sum inner;
  for (std::int64_t x = first + 1; x < last; ++x) inner.add(row + x * 3, 1);
  sum.add(inner, across.unit);
  sum.add(row + last * 3, across.weight(last));
  return sum;
}

struct resize_pixel {
  HEDDLE_HOST_DEVICE void operator()(image_view in, image_target out, std::int64_t y, std::int64_t x) const {
    const stretch down{y * in.height, (y + 1) * in.height, out.height};
    const stretch across{x * in.width, (x + 1) * in.width, out.width};
    const std::int64_t area = std::int64_t{in.width} * in.height;
    const std::int64_t last = down.last();
    colour_sum sum;
    for (std::int64_t from = down.first(); from <= last; ++from) {
      sum.add(sum_of_row(in.row(from), across), down.weight(from));
    }
    std::uint8_t* const to = out.row(y) + x * 3;
    to[0] = static_cast<std::uint8_t>((sum.red + area / 2) / area);
    to[1] = static_cast<std::uint8_t>((sum.green + area / 2) / area);
    to[2] = static_cast<std::uint8_t>((sum.blue + area / 2) / area);
  }
};

}  // namespace heddle::kernels
