// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "rgb.hpp"

namespace image_batch {
namespace {

constexpr std::array pattern_names{"hills",  "mandelbrot", "waves",  "voronoi",
                                   "plasma", "julia",      "clouds", "arcs"};

struct point {
  double x;
  double y;
};

/// Ridges behind one another, the farther the paler, under an evening sky.
rgb hills(const drawing& d, point p) {
  const rgb low = mix(palette_colour(d.seed, 0.1), {1.0, 0.75, 0.5}, 0.6);
  const rgb high = mix(palette_colour(d.seed, 0.6), {0.15, 0.2, 0.45}, 0.6);
  const rgb near = mix(palette_colour(d.seed, 0.35), {0.02, 0.04, 0.08}, 0.8);
  const point sun{random_of(d.seed, 1) * 1.4 - 0.7, -0.05 - 0.35 * random_of(d.seed, 2)};
  constexpr int ridges = 6;
  for (int k = ridges - 1; k >= 0; --k) {  // from the front, since the first one that covers hides the rest
    const double nearness = (k + 1.0) / ridges;
    const double highest = 0.95 * nearness - 0.05 - 0.55;
    if (p.y < highest) continue;
    const auto seed = mixed(d.seed + static_cast<std::uint64_t>(k));
    const double scale = 1.2 + 1.2 * (1 - nearness);
    if (p.y < highest + 0.55 * (1 - cloud_noise(seed, p.x * scale + 10.0 * k, 0.5))) continue;
    return mix(mix(low, high, 0.3), near, 0.15 + 0.85 * nearness);
  }
  const double to_sun = std::hypot(p.x - sun.x, p.y - sun.y);
  const rgb air = mix(high, low, smooth_step(-1.0, 0.4, p.y));
  const rgb glow = air + rgb{1.0, 0.8, 0.5} * (0.5 * std::exp(-3.0 * to_sun));
  return mix({1.0, 0.97, 0.85}, glow, smooth_step(0.13, 0.135, to_sun));
}

// How many steps z = z^2 + c takes to leave, without jumps between whole numbers; negative if it never does.
double escape_time(point z, point c, int most_steps) {
  for (int step = 0; step < most_steps; ++step) {
    const double length = z.x * z.x + z.y * z.y;
    if (length > 256) return step + 1 - std::log2(std::log2(length) / 2);
    z = {z.x * z.x - z.y * z.y + c.x, 2 * z.x * z.y + c.y};
  }
  return -1;
}

rgb fractal_colour(const drawing& d, double steps) {
  if (steps < 0) return {0.02, 0.02, 0.05};
  const bool night = d.round % 2 == 0;  // from dark blue to gold, or any palette
  const double t = (night ? 0.5 : 0.0) + 0.12 * std::pow(std::max(steps, 0.0), 0.75);
  return palette_colour(night ? 0 : d.seed, t) * std::fmin(1, 0.08 + steps / 10);
}

rgb mandelbrot(const drawing& d, point p) {
  struct place {
    point centre;
    double radius;
  };
  constexpr std::array<place, 6> places{{{{-0.6, 0.0}, 1.25},
                                         {{-0.7453, 0.1127}, 0.008},
                                         {{-0.1607, 1.0376}, 0.028},
                                         {{-1.2506, 0.0201}, 0.012},
                                         {{0.2822, 0.0100}, 0.012},
                                         {{-0.7436, 0.1318}, 0.0025}}};
  const auto& at = places[static_cast<std::size_t>(d.round) % places.size()];
  return fractal_colour(
      d, escape_time({0, 0}, {at.centre.x + p.x * at.radius, at.centre.y + p.y * at.radius}, 400));
}

rgb julia(const drawing& d, point p) {
  constexpr std::array<point, 6> constants{
      {{-0.8, 0.156}, {0.285, 0.01}, {-0.70176, -0.3842}, {-0.4, 0.6}, {-0.835, -0.2321}, {0.355, 0.355}}};
  return fractal_colour(d, escape_time({p.x * 1.25, p.y * 1.25},
                                       constants[static_cast<std::size_t>(d.round) % constants.size()], 300));
}

/// Circles on water from a few places, lit from one side.
rgb waves(const drawing& d, point p) {
  double height = 0;
  double slope = 0;
  const auto places = 3 + d.seed % 3;
  for (std::uint64_t k = 0; k < places; ++k) {
    const double x = p.x - (random_of(d.seed, 3 * k) * 3 - 1.5);
    const double y = p.y - (random_of(d.seed, 3 * k + 1) * 3 - 1.5);
    const double fineness = 9 + 12 * random_of(d.seed, 3 * k + 2);
    const double distance = std::hypot(x, y) + 1e-9;
    const double strength = 1 / (1 + distance);
    height += strength * std::sin(fineness * distance);
    slope += strength * std::cos(fineness * distance) * (x + y) / distance;
  }
  const rgb water = palette_colour(d.seed, 0.35 + 0.11 * height);
  return water * (0.75 + 0.12 * slope) + rgb{1, 1, 1} * std::pow(std::fmax(0, slope / 2.4), 6);
}

/// Stained glass: each cell is what lies nearest to its point.
rgb voronoi(const drawing& d, point p) {
  const double scale = 2.5 + 2.5 * random_of(d.seed, 1);
  const point at{p.x * scale, p.y * scale};
  double nearest = 9;
  double second = 9;
  double kind = 0;
  for (double row = std::floor(at.y) - 2; row <= std::floor(at.y) + 2; ++row) {
    for (double column = std::floor(at.x) - 2; column <= std::floor(at.x) + 2; ++column) {
      const double distance = std::hypot(column + random_at(d.seed + 1, column, row) - at.x,
                                         row + random_at(d.seed + 2, column, row) - at.y);
      if (distance < nearest) {
        second = nearest;
        nearest = distance;
        kind = random_at(d.seed + 3, column, row);
      } else {
        second = std::fmin(second, distance);
      }
    }
  }
  const rgb glass = palette_colour(d.seed, kind) * (1.1 - 0.55 * nearest);
  return mix({0.05, 0.05, 0.06}, glass, smooth_step(0.03, 0.08, second - nearest));
}

rgb plasma(const drawing& d, point p) {
  point q{p.x * 2 + 5 * random_of(d.seed, 1), p.y * 2 + 5 * random_of(d.seed, 2)};
  for (int k = 1; k <= 6; ++k) {
    q.x += 0.7 / k * std::sin(k * q.y + 6.3 * random_of(d.seed, 3));
    q.y += 0.7 / k * std::cos(k * q.x + 6.3 * random_of(d.seed, 4));
  }
  return palette_colour(d.seed, 0.5 + 0.25 * std::sin(q.x + q.y) + 0.2 * std::sin(q.x - 0.7 * q.y));
}

/// Marble: clouds whose places are moved by other clouds.
rgb clouds(const drawing& d, point p) {
  const point q{p.x * 1.3 + 20 * random_of(d.seed, 1), p.y * 1.3 + 20 * random_of(d.seed, 2)};
  const point moved{cloud_noise(d.seed + 10, q.x, q.y), cloud_noise(d.seed + 20, q.x + 5.2, q.y + 1.3)};
  const double density = cloud_noise(d.seed + 30, q.x + 4 * moved.x, q.y + 4 * moved.y);
  const rgb colour = palette_colour(d.seed, 0.3 + 0.9 * density + 0.4 * moved.x);
  return mix(colour, {1, 1, 1}, 0.7 * smooth_step(0.5, 0.85, density)) * (0.35 + 1.1 * density);
}

/// Square tiles with two quarter circles each, turned at random: endless winding bands.
rgb arcs(const drawing& d, point p) {
  const double scale = 3 + 2 * random_of(d.seed, 1);
  const point at{p.x * scale, p.y * scale};
  const point tile{std::floor(at.x), std::floor(at.y)};
  point in{at.x - tile.x, at.y - tile.y};
  if (random_at(d.seed, tile.x, tile.y) < 0.5) in.x = 1 - in.x;
  const double distance =
      std::fmin(std::fabs(std::hypot(in.x, in.y) - 0.5), std::fabs(std::hypot(in.x - 1, in.y - 1) - 0.5));
  const rgb band = palette_colour(d.seed, 0.2 + 0.25 * (p.x + p.y)) * (1.05 - 2.2 * distance);
  const rgb between = palette_colour(d.seed, 0.7 + 0.15 * (p.x - p.y)) * 0.3;
  const double stripe = smooth_step(0.045, 0.06, distance);
  return mix(mix({1, 1, 1}, band, stripe), between, smooth_step(0.2, 0.215, distance));
}

rgb colour_at(const drawing& d, point p) {
  switch (d.what) {
    case pattern::hills:
      return hills(d, p);
    case pattern::mandelbrot:
      return mandelbrot(d, p);
    case pattern::waves:
      return waves(d, p);
    case pattern::voronoi:
      return voronoi(d, p);
    case pattern::plasma:
      return plasma(d, p);
    case pattern::julia:
      return julia(d, p);
    case pattern::clouds:
      return clouds(d, p);
    case pattern::arcs:
      return arcs(d, p);
  }
  return {};
}

std::uint8_t to_byte(double light) {
  return static_cast<std::uint8_t>(std::clamp(light, 0.0, 1.0) * 255 + 0.5);
}

}  // namespace

drawing drawing_of(int number) noexcept {
  struct shape {
    int width;
    int height;
  };
  constexpr std::array<shape, 5> shapes{{{960, 640}, {1024, 576}, {640, 800}, {960, 720}, {720, 720}}};
  constexpr int patterns = static_cast<int>(pattern_names.size());
  const auto [width, height] = shapes[static_cast<std::size_t>(number) % shapes.size()];
  return {static_cast<pattern>(number % patterns), number / patterns,
          mixed(static_cast<std::uint64_t>(number)), width, height};
}

std::string file_name_of(int number) {
  char text[32];
  std::snprintf(text, sizeof text, "sample-%03d-", number + 1);
  return std::string(text) + pattern_names[static_cast<std::size_t>(drawing_of(number).what)] + ".png";
}

void draw_row(const drawing& what, target_view out, std::int64_t y) {
  constexpr int samples = 2;  // per pixel and direction, against jagged lines
  const double unit = 2.0 / std::min(out.width, out.height);
  auto* to = out.row(y);
  for (int x = 0; x < out.width; ++x, to += 3) {
    rgb sum;
    for (int k = 0; k < samples * samples; ++k) {
      const double right = x + (k % samples + 0.5) / samples - out.width / 2.0;
      const double down = static_cast<double>(y) + (k / samples + 0.5) / samples - out.height / 2.0;
      const rgb sample = colour_at(what, {right * unit, down * unit});
      sum = sum + rgb{std::clamp(sample.red, 0.0, 1.0), std::clamp(sample.green, 0.0, 1.0),
                      std::clamp(sample.blue, 0.0, 1.0)};
    }
    const rgb mean = sum * (1.0 / (samples * samples));
    to[0] = to_byte(mean.red);
    to[1] = to_byte(mean.green);
    to[2] = to_byte(mean.blue);
  }
}

}  // namespace image_batch
