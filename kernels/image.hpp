// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "heddle/device_context.hpp"
#include "kernels/image_view.hpp"

/// Pictures in memory of the item's device, made on its stream, pixel by pixel on a GPU and row by row on a
/// host device. Integers only, so that every device gives the same bytes. They do not block. All throw
/// `invalid_option` if a side is below 1, and `no_device_code` on a GPU where there was no nvcc. `in` and
/// `out` do not overlap.
namespace heddle::kernels {

/// The type of them all.
using image_function = void (*)(const device_context& context, image_view in, image_target out);

/// `in` scaled to the size of `out`: each pixel is the mean of the rectangle of `in` that it covers, parts of
/// pixels weighed by their area, rounded to nearest. For pictures of up to 2^55 pixels.
void resize(const device_context& context, image_view in, image_target out);

/// The others need both of one size, or throw `invalid_option`. Beyond the border the nearest pixel counts.
///
/// Unsharp mask: three quarters of the difference to a 3 x 3 binomial blur are added.
void sharpen(const device_context& context, image_view in, image_target out);
/// Binomial blur over 5 x 5 pixels.
void blur(const device_context& context, image_view in, image_target out);
/// How steep each colour channel is (Sobel), bright on black.
void edges(const device_context& context, image_view in, image_target out);

}  // namespace heddle::kernels
