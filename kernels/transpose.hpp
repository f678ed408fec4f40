// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_context.hpp"
#include "heddle/extents.hpp"

namespace heddle::kernels {

/// out[x * height + y] = in[y * width + x]. `size`: height and width of `in`; `in` and `out` do not overlap
/// and lie in memory of the item's device. On its stream, tile by tile; does not block. Throws
/// `invalid_option` if a range has another size, and `no_device_code` on a GPU where there was no nvcc.
void transpose(const device_context& context, std::span<const float> in, std::span<float> out,
               extents<2> size);

}  // namespace heddle::kernels
