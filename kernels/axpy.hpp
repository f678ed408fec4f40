// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_context.hpp"

namespace heddle::kernels {

/// y[i] += a * x[i], in memory of the item's device, on its stream. The product is rounded before the sum, so
/// that every device gives the same bits. Does not block. Throws `invalid_option` if the sizes differ, and
/// `no_device_code` on a GPU where there was no nvcc.
void axpy(const device_context& context, float a, std::span<const float> x, std::span<float> y);

}  // namespace heddle::kernels
