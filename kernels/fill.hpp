// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_context.hpp"

namespace heddle::kernels {

/// out[i] = value, in memory of the item's device, on its stream. Does not block. Throws `no_device_code` on
/// a GPU where there was no nvcc.
void fill(const device_context& context, float value, std::span<float> out);

}  // namespace heddle::kernels
