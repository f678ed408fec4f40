// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "image.hpp"

namespace image_batch {

enum class pattern { hills, mandelbrot, waves, voronoi, plasma, julia, clouds, arcs };

/// What one sample picture looks like; a plain value.
struct drawing {
  pattern what = pattern::hills;
  int round = 0;           ///< how many pictures of this pattern came before it
  std::uint64_t seed = 0;  ///< what its random choices follow from
  int width = 0;
  int height = 0;
};

/// The sample picture with this number, from 0: every number gives another picture, always the same one.
drawing drawing_of(int number) noexcept;

/// "sample-003-waves.png".
std::string file_name_of(int number);

/// Paints row `y` of the picture, of which `out` has the size.
void draw_row(const drawing& what, target_view out, std::int64_t y);

}  // namespace image_batch
