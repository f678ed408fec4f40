// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "draw.hpp"

namespace image_batch {
namespace {

TEST(Drawings, AreAllDifferent) {
  std::set<std::vector<std::uint8_t>> seen;
  constexpr int pictures = 48;
  for (int number = 0; number < pictures; ++number) {
    image small(24, 16);
    for (int y = 0; y < small.height; ++y) draw_row(drawing_of(number), small.target(), y);
    seen.insert(small.pixels);
  }
  EXPECT_EQ(seen.size(), pictures);
}

TEST(Drawings, AreNotOneColour) {
  for (int number = 0; number < 48; ++number) {
    image small(24, 16);
    for (int y = 0; y < small.height; ++y) draw_row(drawing_of(number), small.target(), y);
    EXPECT_GT(std::set<std::uint8_t>(small.pixels.begin(), small.pixels.end()).size(), 10u) << number;
  }
}

}  // namespace
}  // namespace image_batch
