// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace image_batch {

/// Light of three colours, each from 0 to 1; arithmetic goes colour by colour.
struct rgb {
  double red = 0;
  double green = 0;
  double blue = 0;

  friend rgb operator+(rgb a, rgb b) { return {a.red + b.red, a.green + b.green, a.blue + b.blue}; }
  friend rgb operator*(rgb a, double k) { return {a.red * k, a.green * k, a.blue * k}; }
};

/// `a` for 0, `b` for 1.
inline rgb mix(rgb a, rgb b, double share) { return a * (1 - share) + b * share; }

/// 0 below `from`, 1 above `to`, smooth between.
inline double smooth_step(double from, double to, double x) {
  const double t = std::fmin(std::fmax((x - from) / (to - from), 0), 1);
  return t * t * (3 - 2 * t);
}

/// A colour that runs through a palette once while `t` goes from 0 to 1 (cosine palettes, after I. Quilez).
/// Any `choice` names a palette.
rgb palette_colour(std::uint64_t choice, double t);

/// Well mixed bits (splitmix64, S. Vigna).
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The `k`-th random number of a seed, at least 0 and below 1.
inline double random_of(std::uint64_t seed, std::uint64_t k) {
  return static_cast<double>(mixed(seed ^ mixed(k)) >> 11) * 0x1p-53;
}

/// A random number for a point with integer coordinates, at least 0 and below 1.
inline double random_at(std::uint64_t seed, double x, double y) {
  const auto column = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  const auto row = static_cast<std::uint64_t>(static_cast<std::int64_t>(y));
  return static_cast<double>(mixed(seed ^ column * 0xd1b54a32d192ed03u ^ row * 0x8cb92ba72f3d8dd7u) >> 11) *
         0x1p-53;
}

/// Smooth noise from 0 to 1 with one hump or hollow about every unit, and the sum of five such of doubled
/// fineness and halved strength.
double value_noise(std::uint64_t seed, double x, double y);
double cloud_noise(std::uint64_t seed, double x, double y);

}  // namespace image_batch
