// SPDX-License-Identifier: Apache-2.0
#include "kernels/busy.hpp"

#include "kernels/gpu.hpp"

namespace heddle::kernels {

void busy(const stream& on, std::chrono::nanoseconds time) {
  if (!on.on_host()) return gpu::busy(on, time);
  on.enqueue([time] {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + time;
    while (clock::now() < until) continue;
  });
}

}  // namespace heddle::kernels
