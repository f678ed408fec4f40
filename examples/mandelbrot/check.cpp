// SPDX-License-Identifier: Apache-2.0
#include "mandelbrot/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace mandelbrot {
namespace {

constexpr double margin = 1e-9;  // for the rounding of the formulas

// The set's heart, and the disk to its left: their borders are the only ones with a simple form.
bool in_heart(double x, double y) {
  const double q = (x - 0.25) * (x - 0.25) + y * y;
  return q * (q + (x - 0.25)) < 0.25 * y * y - margin;
}
bool in_disk(double x, double y) { return (x + 1) * (x + 1) + y * y < 0.0625 - margin; }

bool all_in_set(const frame& f, std::int64_t y, std::int64_t x) {
  for (int j = 0; j < samples; ++j) {
    for (int i = 0; i < samples; ++i) {
      const double re = sample_x(f, x, i), im = sample_y(f, y, j);
      if (!in_heart(re, im) && !in_disk(re, im)) return false;
    }
  }
  return true;
}

bool close(colour a, colour b, int distance) {
  return std::abs(a.red - b.red) <= distance && std::abs(a.green - b.green) <= distance &&
         std::abs(a.blue - b.blue) <= distance;
}

}  // namespace

std::string fault_of(const picture& seen, const frame& f, bool exact, const std::vector<int>& ids) {
  std::int64_t compared = 0, differ = 0, not_black = 0, strangers = 0;
  std::size_t i = 0;
  for (std::int64_t y = 0; y < f.height; ++y) {
    for (std::int64_t x = 0; x < f.width; ++x, ++i) {
      if (i % 31 == 0) {
        ++compared;
        if (!close(seen.pixels[i], colour_of_pixel(f, y, x), exact ? 0 : 4)) ++differ;
      }
      if (all_in_set(f, y, x) && seen.pixels[i] != colour{}) ++not_black;
      if (std::find(ids.begin(), ids.end(), seen.made_by[i]) == ids.end()) ++strangers;
    }
  }
  if (differ > (exact ? 0 : compared / 100)) {
    return std::to_string(differ) + " of " + std::to_string(compared) +
           " pixels are not what a plain loop computes";
  }
  if (not_black > 0) return std::to_string(not_black) + " pixels of the set are not black";
  if (strangers > 0) return std::to_string(strangers) + " pixels were made by no device";
  return {};
}

}  // namespace mandelbrot
