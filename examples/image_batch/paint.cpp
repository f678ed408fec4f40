// SPDX-License-Identifier: Apache-2.0
#include "paint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace image_batch {
namespace {

// Five rows of three dots each.
constexpr std::array<std::string_view, 10> digits{
    "####.##.##.####", ".#.##..#..#.###", "###..#####..###", "###..####..####", "#.##.####..#..#",
    "####..###..####", "####..####.####", "###..#..#..#..#", "####.#####.####", "####.####..####",
};
constexpr std::string_view minus = "......###......";

std::string_view glyph(char letter) {
  return letter == '-' ? minus : digits[static_cast<std::size_t>(letter - '0')];
}

}  // namespace

colour colour_of(int id) noexcept {
  constexpr std::array<colour, 8> palette{{{230, 159, 0},
                                           {86, 180, 233},
                                           {0, 158, 115},
                                           {240, 228, 66},
                                           {204, 121, 167},
                                           {213, 94, 0},
                                           {0, 114, 178},
                                           {200, 200, 200}}};
  return palette[static_cast<unsigned>(id) % palette.size()];
}

void fill(target_view out, int left, int top, int width, int height, colour with) {
  const int right = std::min(left + width, out.width);
  const int bottom = std::min(top + height, out.height);
  for (int y = std::max(top, 0); y < bottom; ++y) {
    for (int x = std::max(left, 0); x < right; ++x) {
      auto* pixel = out.row(y) + std::ptrdiff_t{x} * 3;
      pixel[0] = with.red;
      pixel[1] = with.green;
      pixel[2] = with.blue;
    }
  }
}

void paste(target_view out, int left, int top, image_view picture) {
  const int first = std::max(left, 0);
  const int last = std::min(left + picture.width, out.width);
  if (last <= first) return;
  for (int y = std::max(top, 0); y < std::min(top + picture.height, out.height); ++y) {
    std::copy_n(picture.row(y - top) + std::ptrdiff_t{first - left} * 3, std::ptrdiff_t{last - first} * 3,
                out.row(y) + std::ptrdiff_t{first} * 3);
  }
}

void write_number(target_view out, int left, int top, int number, int dot, colour with) {
  for (const char letter : std::to_string(number)) {
    const auto dots = glyph(letter);
    for (int k = 0; k < 15; ++k) {
      if (dots[static_cast<std::size_t>(k)] != '#') continue;
      fill(out, left + k % 3 * dot, top + k / 3 * dot, dot, dot, with);
    }
    left += 4 * dot;
  }
}

int number_width(int number, int dot) {
  return (static_cast<int>(std::to_string(number).size()) * 4 - 1) * dot;
}

}  // namespace image_batch
