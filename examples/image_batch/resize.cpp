// SPDX-License-Identifier: Apache-2.0
#include "resize.hpp"

#include <algorithm>

namespace image_batch {
namespace {

// A stretch of source pixels, in units in which one source pixel is `unit` long.
struct stretch {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t unit;

  std::int64_t first() const { return begin / unit; }
  std::int64_t last() const { return (end - 1) / unit; }
  std::int64_t weight(std::int64_t at) const {
    return std::min(end, (at + 1) * unit) - std::max(begin, at * unit);
  }
};

struct colour_sum {
  std::int64_t red = 0;
  std::int64_t green = 0;
  std::int64_t blue = 0;

  void add(const std::uint8_t* pixel, std::int64_t weight) {
    red += weight * pixel[0];
    green += weight * pixel[1];
    blue += weight * pixel[2];
  }
  void add(const colour_sum& other, std::int64_t weight) {
    red += weight * other.red;
    green += weight * other.green;
    blue += weight * other.blue;
  }
};

// All pixels between the first and the last weigh the same, which leaves one addition for each.
colour_sum sum_of_row(const std::uint8_t* row, const stretch& across) {
  colour_sum sum;
  const auto first = across.first();
  const auto last = across.last();
  sum.add(row + first * 3, across.weight(first));
  if (first == last) return sum;
  colour_sum inner;
  for (auto x = first + 1; x < last; ++x) inner.add(row + x * 3, 1);
  sum.add(inner, across.unit);
  sum.add(row + last * 3, across.weight(last));
  return sum;
}

int scaled(int side, int to, int from) {
  return static_cast<int>(std::max<std::int64_t>(1, (std::int64_t{side} * to + from / 2) / from));
}

}  // namespace

picture_size fit(picture_size picture, picture_size box) noexcept {
  if (picture.width <= box.width && picture.height <= box.height) return picture;
  const bool width_decides =
      std::int64_t{picture.width} * box.height >= std::int64_t{picture.height} * box.width;
  if (width_decides) return {box.width, scaled(picture.height, box.width, picture.width)};
  return {scaled(picture.width, box.height, picture.height), box.height};
}

void resize_row(image_view in, target_view out, std::int64_t y) {
  const stretch down{y * in.height, (y + 1) * in.height, out.height};
  const std::int64_t area = std::int64_t{in.width} * in.height;
  auto* to = out.row(y);
  for (std::int64_t x = 0; x < out.width; ++x, to += 3) {
    const stretch across{x * in.width, (x + 1) * in.width, out.width};
    colour_sum sum;
    for (auto from = down.first(); from <= down.last(); ++from) {
      sum.add(sum_of_row(in.row(from), across), down.weight(from));
    }
    to[0] = static_cast<std::uint8_t>((sum.red + area / 2) / area);
    to[1] = static_cast<std::uint8_t>((sum.green + area / 2) / area);
    to[2] = static_cast<std::uint8_t>((sum.blue + area / 2) / area);
  }
}

}  // namespace image_batch
