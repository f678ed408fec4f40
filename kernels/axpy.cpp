// SPDX-License-Identifier: Apache-2.0
#include "kernels/axpy.hpp"

#include <cstdint>

#include "kernels/axpy_body.hpp"
#include "kernels/gpu.hpp"
#include "kernels/sizes.hpp"

namespace heddle::kernels {

void axpy(const device_context& context, float a, std::span<const float> x, std::span<float> y) {
  const auto n = static_cast<std::int64_t>(y.size());
  check_size("axpy", "x", x.size(), n);
  if (n == 0) return;
  const auto on = context.stream();
  if (!on.on_host()) return gpu::axpy(on, a, x.data(), y.data(), n);
  on.launch(n,
            [a, from = x.data(), to = y.data()](std::int64_t i) { to[i] = axpy_value(a, from[i], to[i]); });
}

}  // namespace heddle::kernels
