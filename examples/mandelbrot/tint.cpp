// SPDX-License-Identifier: Apache-2.0
#include "mandelbrot/tint.hpp"

#include <algorithm>
#include <cstddef>

namespace mandelbrot {
namespace {

using image_batch::image;

std::uint8_t shade(std::uint8_t of, double brightness) {
  return static_cast<std::uint8_t>(of * brightness + 0.5);
}

// The device's colour, as bright as the pixel; never quite dark, since points of the set have a maker too.
colour tinted(colour pixel, colour device) {
  const double brightness = (0.299 * pixel.red + 0.587 * pixel.green + 0.114 * pixel.blue) / 255;
  const double light = 0.3 + 0.7 * brightness;
  return {shade(device.red, light), shade(device.green, light), shade(device.blue, light)};
}

void put(image& to, std::size_t pixel, colour c) {
  to.pixels[3 * pixel] = c.red;
  to.pixels[3 * pixel + 1] = c.green;
  to.pixels[3 * pixel + 2] = c.blue;
}

void draw_key(image& to, int top, const std::vector<device_share>& shares) {
  std::int64_t all = 0;
  for (const auto& each : shares) all += each.pixels;
  const int dot = std::max(1, to.height / 160);  // of the digits, which are 5 high
  const int gap = 2;
  std::int64_t before = 0;
  for (const auto& each : shares) {
    const auto left = static_cast<int>(before * to.width / all);
    before += each.pixels;
    const int width = static_cast<int>(before * to.width / all) - left - (before < all ? gap : 0);
    image_batch::fill(to.target(), left, top, width, to.height - top, image_batch::colour_of(each.id));
    const int wide = image_batch::number_width(each.id, dot);
    if (wide + 2 * dot > width) continue;
    image_batch::write_number(to.target(), left + (width - wide) / 2, top + (to.height - top - 5 * dot) / 2,
                              each.id, dot, {0, 0, 0});
  }
}

}  // namespace

image plain_image(const picture& from, const frame& f) {
  image to(f.width, f.height);
  for (std::size_t i = 0; i < from.pixels.size(); ++i) put(to, i, from.pixels[i]);
  return to;
}

image tinted_image(const picture& from, const frame& f, const std::vector<device_share>& shares) {
  const int gap = 4;
  image to(f.width, f.height + gap + std::max(11, f.height / 16));
  for (std::size_t i = 0; i < from.pixels.size(); ++i) {
    put(to, i, tinted(from.pixels[i], image_batch::colour_of(from.made_by[i])));
  }
  draw_key(to, f.height + gap, shares);
  return to;
}

}  // namespace mandelbrot
