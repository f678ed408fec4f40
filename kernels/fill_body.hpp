// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/grid.hpp"

namespace heddle::kernels {

HEDDLE_HOST_DEVICE inline void fill_thread(const thread_place& at, float value, float* out, std::int64_t n) {
  for (std::int64_t i = at.x; i < n; i += at.step_x) out[i] = value;
}

}  // namespace heddle::kernels
