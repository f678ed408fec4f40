// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "image.hpp"

namespace image_batch {

struct colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const colour&, const colour&) = default;
};

/// The colour of a gpu id: eight colours that colour-blind people can tell apart too (Okabe and Ito, "Color
/// Universal Design", 2008; their black is a light grey here, for dark ground). Ids that are eight apart
/// share one.
colour colour_of(int id) noexcept;

/// All of these paint what lies inside the picture and leave out the rest.
void fill(target_view out, int left, int top, int width, int height, colour with);
void paste(target_view out, int left, int top, image_view picture);

/// Digits of 3 x 5 dots, one dot between them; each dot is a square of `dot` pixels. A minus sign for
/// negative numbers.
void write_number(target_view out, int left, int top, int number, int dot, colour with);

/// How wide `write_number` paints, in pixels.
int number_width(int number, int dot);

}  // namespace image_batch
