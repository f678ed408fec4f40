// SPDX-License-Identifier: Apache-2.0
#include "filters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace image_batch {
namespace {

std::uint8_t to_byte(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

/// The pixels around one, nearest pixel beyond the border: `at(dx, dy)` with both within `Reach`.
template <int Reach>
class neighbourhood {
 public:
  neighbourhood(image_view in, std::int64_t y) : width_(in.width) {
    for (int dy = -Reach; dy <= Reach; ++dy) {
      rows_[static_cast<std::size_t>(dy + Reach)] =
          in.row(std::clamp<std::int64_t>(y + dy, 0, in.height - 1));
    }
  }
  void move_to(int x, int channel) {
    x_ = x;
    channel_ = channel;
  }
  int at(int dx, int dy) const {
    const std::ptrdiff_t column = std::clamp(x_ + dx, 0, width_ - 1);
    return rows_[static_cast<std::size_t>(dy + Reach)][column * 3 + channel_];
  }

 private:
  std::array<const std::uint8_t*, 2 * Reach + 1> rows_ = {};
  int width_;
  int x_ = 0;
  int channel_ = 0;
};

template <int Reach, class Function>
void for_each_sample(image_view in, target_view out, std::int64_t y, Function value_of) {
  neighbourhood<Reach> around(in, y);
  auto* to = out.row(y);
  for (int x = 0; x < in.width; ++x) {
    for (int channel = 0; channel < 3; ++channel) {
      around.move_to(x, channel);
      *to++ = to_byte(value_of(around));
    }
  }
}

void sharpen_row(image_view in, target_view out, std::int64_t y) {
  for_each_sample<1>(in, out, y, [](const auto& p) {
    const int blurred = p.at(-1, -1) + 2 * p.at(0, -1) + p.at(1, -1) +  //
                        2 * p.at(-1, 0) + 4 * p.at(0, 0) + 2 * p.at(1, 0) + p.at(-1, 1) + 2 * p.at(0, 1) +
                        p.at(1, 1);  // times 16
    return p.at(0, 0) + ((3 * (16 * p.at(0, 0) - blurred) + 32) >> 6);
  });
}

void blur_row(image_view in, target_view out, std::int64_t y) {
  constexpr std::array<int, 5> weights{1, 4, 6, 4, 1};
  for_each_sample<2>(in, out, y, [&](const auto& p) {
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) {
        sum += weights[static_cast<std::size_t>(dx + 2)] * weights[static_cast<std::size_t>(dy + 2)] *
               p.at(dx, dy);
      }
    }
    return (sum + 128) >> 8;
  });
}

void edges_row(image_view in, target_view out, std::int64_t y) {
  for_each_sample<1>(in, out, y, [](const auto& p) {
    const int across =
        p.at(1, -1) + 2 * p.at(1, 0) + p.at(1, 1) - p.at(-1, -1) - 2 * p.at(-1, 0) - p.at(-1, 1);
    const int down = p.at(-1, 1) + 2 * p.at(0, 1) + p.at(1, 1) - p.at(-1, -1) - 2 * p.at(0, -1) - p.at(1, -1);
    return (std::abs(across) + std::abs(down)) / 2;
  });
}

void copy_row(image_view in, target_view out, std::int64_t y) {
  std::copy_n(in.row(y), std::ptrdiff_t{in.width} * 3, out.row(y));
}

}  // namespace

row_function row_of(operation what) noexcept {
  switch (what) {
    case operation::sharpen:
      return sharpen_row;
    case operation::blur:
      return blur_row;
    case operation::edges:
      return edges_row;
    case operation::none:
      return copy_row;
  }
  return copy_row;
}

}  // namespace image_batch
