// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "heddle/device_context.hpp"

namespace heddle::kernels {

/// Keeps the stream busy for at least `time`, by the GPU's own clock, with one thread of it; on a host device
/// its device thread, by the steady clock. Does not block on GPUs. Throws `no_device_code` on a GPU where
/// there was no nvcc.
void busy(const stream& on, std::chrono::nanoseconds time);

/// The same, on the item's stream.
inline void busy(const device_context& context, std::chrono::nanoseconds time) {
  busy(context.stream(), time);
}

}  // namespace heddle::kernels
