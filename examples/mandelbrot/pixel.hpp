// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "heddle/device_code.hpp"
#include "image_batch/paint.hpp"

namespace mandelbrot {

using image_batch::colour;

/// What part of the plane the picture shows.
struct frame {
  int width = 960, height = 640;  ///< of the picture, in pixels
  double centre_x = -0.7, centre_y = 0;
  double zoom = 1;       ///< 1: the picture is 2.4 high
  int iterations = 500;  ///< a point that has not escaped by then belongs to the set

  HEDDLE_HOST_DEVICE double pixel_side() const { return 2.4 / zoom / height; }
};

/// A pixel is the mean of this many points in each direction.
constexpr int samples = 2;

/// The real and the imaginary part of one of the points of a pixel.
HEDDLE_HOST_DEVICE inline double sample_x(const frame& f, std::int64_t x, int sample) {
  return f.centre_x + (static_cast<double>(x) + (sample + 0.5) / samples - 0.5 * f.width) * f.pixel_side();
}
HEDDLE_HOST_DEVICE inline double sample_y(const frame& f, std::int64_t y, int sample) {
  return f.centre_y - (static_cast<double>(y) + (sample + 0.5) / samples - 0.5 * f.height) * f.pixel_side();
}

/// How many times z = z^2 + c, from z = 0 on, can be done before z is far away, with a fraction that makes it
/// continuous in c; negative for points of the set.
HEDDLE_HOST_DEVICE inline double escape_time(double re, double im, int iterations) {
  double x = 0, y = 0;
  for (int k = 0; k < iterations; ++k) {
    const double xx = x * x, yy = y * y;
    if (xx + yy > 65536) return std::fmax(0., k - std::log2(std::log2(xx + yy) / 16));
    y = 2 * x * y + im;
    x = xx - yy + re;
  }
  return -1;
}

/// Light of three colours, from 0 to 1.
struct light {
  double red, green, blue;
};

/// 0 up to `from`, then a wave between 0 and 1.
HEDDLE_HOST_DEVICE inline double wave(double turn, double from) {
  return turn < from ? 0 : 0.5 - 0.5 * std::cos(turn - from);
}

/// Black for points of the set. Else, the nearer the set: night blue, blue, white, gold and round again, ever
/// slower, since escape times grow without bound.
HEDDLE_HOST_DEVICE inline light light_of(double time) {
  if (time < 0) return {0, 0, 0};
  const double turn = 2.4 * (std::log2(1 + time) - 1.6);
  return {wave(turn, 1.3), 0.02 + 0.96 * wave(turn, 0.7), 0.12 + 0.86 * wave(turn, 0)};
}

HEDDLE_HOST_DEVICE inline colour colour_of_pixel(const frame& f, std::int64_t y, std::int64_t x) {
  light sum{0, 0, 0};
  for (int j = 0; j < samples; ++j) {
    for (int i = 0; i < samples; ++i) {
      const light each = light_of(escape_time(sample_x(f, x, i), sample_y(f, y, j), f.iterations));
      sum = {sum.red + each.red, sum.green + each.green, sum.blue + each.blue};
    }
  }
  const double scale = 255. / (samples * samples);
  return {static_cast<std::uint8_t>(sum.red * scale + 0.5),
          static_cast<std::uint8_t>(sum.green * scale + 0.5),
          static_cast<std::uint8_t>(sum.blue * scale + 0.5)};
}

}  // namespace mandelbrot
