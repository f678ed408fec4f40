// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"
#include "kernels/image_view.hpp"

namespace heddle::kernels {

HEDDLE_HOST_DEVICE constexpr std::int64_t clamped(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/// The samples of one channel around a pixel, nearest pixel beyond the border: `at(dx, dy)`, both within
/// `Reach`.
template <int Reach>
class neighbourhood {
 public:
  static constexpr int side = 2 * Reach + 1;

  HEDDLE_HOST_DEVICE neighbourhood(image_view in, std::int64_t y, std::int64_t x) {
    for (int d = -Reach; d <= Reach; ++d) {
      rows_[d + Reach] = in.row(clamped(y + d, 0, in.height - 1));
      columns_[d + Reach] = clamped(x + d, 0, in.width - 1) * 3;
    }
  }
  HEDDLE_HOST_DEVICE int at(int dx, int dy, int channel) const {
    return rows_[dy + Reach][columns_[dx + Reach] + channel];
  }

 private:
  const std::uint8_t* rows_[side];
  std::int64_t columns_[side];
};

/// One pixel of a filter. `Filter::value` computes a sample of one channel from its neighbourhood.
template <class Filter>
struct filter_pixel {
  HEDDLE_HOST_DEVICE void operator()(image_view in, image_target out, std::int64_t y, std::int64_t x) const {
    const neighbourhood<Filter::reach> around(in, y, x);
    std::uint8_t* const to = out.row(y) + x * 3;
    for (int channel = 0; channel < 3; ++channel) {
      to[channel] = static_cast<std::uint8_t>(clamped(Filter::value(around, channel), 0, 255));
    }
  }
};

struct sharpen_filter {
  static constexpr int reach = 1;
  HEDDLE_HOST_DEVICE static int value(const neighbourhood<1>& p, int c) {
    const int corners = p.at(-1, -1, c) + p.at(1, -1, c) + p.at(-1, 1, c) + p.at(1, 1, c);
    const int sides = p.at(0, -1, c) + p.at(-1, 0, c) + p.at(1, 0, c) + p.at(0, 1, c);
    const int blurred = corners + 2 * sides + 4 * p.at(0, 0, c);  // times 16
    return p.at(0, 0, c) + ((3 * (16 * p.at(0, 0, c) - blurred) + 32) >> 6);
  }
};

struct blur_filter {
  static constexpr int reach = 2;
  HEDDLE_HOST_DEVICE static int value(const neighbourhood<2>& p, int c) {
    constexpr int weights[] = {1, 4, 6, 4, 1};
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) sum += weights[dx + 2] * weights[dy + 2] * p.at(dx, dy, c);
    }
    return (sum + 128) >> 8;
  }
};

struct edges_filter {
  static constexpr int reach = 1;
  HEDDLE_HOST_DEVICE static int value(const neighbourhood<1>& p, int c) {
    const int left = p.at(-1, -1, c) + 2 * p.at(-1, 0, c) + p.at(-1, 1, c);
    const int right = p.at(1, -1, c) + 2 * p.at(1, 0, c) + p.at(1, 1, c);
    const int above = p.at(-1, -1, c) + 2 * p.at(0, -1, c) + p.at(1, -1, c);
    const int below = p.at(-1, 1, c) + 2 * p.at(0, 1, c) + p.at(1, 1, c);
    const int across = right < left ? left - right : right - left;
    const int down = below < above ? above - below : below - above;
    return (across + down) / 2;
  }
};

}  // namespace heddle::kernels
