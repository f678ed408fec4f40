// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_context.hpp"
#include "heddle/extents.hpp"

namespace heddle::kernels {

/// One explicit step of the heat equation with the 5-point Laplacian: out = in + k * (up + down + left +
/// right - 4 * in) inside, out = in at the border. `size`: rows and columns; `in` and `out` do not overlap
/// and lie in memory of the item's device. On its stream; does not block; every device gives the same bits.
/// Throws `invalid_option` if a range has another size, and `no_device_code` on a GPU where there was no
/// nvcc.
void stencil_2d(const device_context& context, float k, std::span<const float> in, std::span<float> out,
                extents<2> size);

}  // namespace heddle::kernels
