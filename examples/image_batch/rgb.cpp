// SPDX-License-Identifier: Apache-2.0
#include "rgb.hpp"

#include <array>
#include <cstddef>
#include <numbers>

namespace image_batch {

rgb palette_colour(std::uint64_t choice, double t) {
  struct palette {
    std::array<double, 3> middle, swing, turns, shift;
  };
  constexpr std::array<palette, 6> palettes{{
      {{0.50, 0.50, 0.50}, {0.50, 0.50, 0.50}, {1.0, 1.0, 1.0}, {0.00, 0.10, 0.20}},
      {{0.50, 0.50, 0.50}, {0.50, 0.50, 0.50}, {1.0, 0.7, 0.4}, {0.00, 0.15, 0.20}},
      {{0.55, 0.45, 0.40}, {0.45, 0.40, 0.35}, {1.0, 1.0, 1.0}, {0.50, 0.58, 0.72}},
      {{0.45, 0.50, 0.55}, {0.40, 0.45, 0.40}, {1.0, 1.0, 1.0}, {0.55, 0.40, 0.25}},
      {{0.55, 0.40, 0.50}, {0.45, 0.35, 0.40}, {1.0, 1.0, 1.0}, {0.95, 0.80, 0.55}},
      {{0.50, 0.55, 0.45}, {0.45, 0.40, 0.40}, {1.0, 1.0, 1.0}, {0.80, 0.90, 0.30}},
  }};
  const auto& p = palettes[choice % palettes.size()];
  const auto value = [&](std::size_t c) {
    return p.middle[c] + p.swing[c] * std::cos(2 * std::numbers::pi * (p.turns[c] * t + p.shift[c]));
  };
  return {value(0), value(1), value(2)};
}

double value_noise(std::uint64_t seed, double x, double y) {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const double across = smooth_step(0, 1, x - left);
  const double down = smooth_step(0, 1, y - top);
  const double above = std::lerp(random_at(seed, left, top), random_at(seed, left + 1, top), across);
  const double below = std::lerp(random_at(seed, left, top + 1), random_at(seed, left + 1, top + 1), across);
  return std::lerp(above, below, down);
}

double cloud_noise(std::uint64_t seed, double x, double y) {
  double sum = 0;
  double strength = 0.5;
  for (std::uint64_t octave = 0; octave < 5; ++octave) {
    sum += strength * value_noise(seed + octave, x, y);
    strength /= 2;
    // Turned a little each time, so that the squares of the octaves do not line up.
    const double turned = 1.6 * x + 1.2 * y;
    y = 1.6 * y - 1.2 * x;
    x = turned;
  }
  return sum;
}

}  // namespace image_batch
