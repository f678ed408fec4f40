// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "heddle/device_context.hpp"

namespace heddle::kernels {

/// sum[0] = x[0] + x[1] + …, in memory of the item's device, on its stream; 0 if there are none. Added in
/// double, in an order that depends on the size alone: every device gives the same bits, each time. Does not
/// block. Throws `out_of_device_memory`, and `no_device_code` on a GPU where there was no nvcc.
void reduce(const device_context& context, std::span<const float> x, std::span<double, 1> sum);

}  // namespace heddle::kernels
