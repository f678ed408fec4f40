// SPDX-License-Identifier: Apache-2.0
#include "kernels/fill.hpp"

#include <cstdint>

#include "kernels/gpu.hpp"

namespace heddle::kernels {

void fill(const device_context& context, float value, std::span<float> out) {
  if (out.empty()) return;
  const auto on = context.stream();
  const auto n = static_cast<std::int64_t>(out.size());
  if (!on.on_host()) return gpu::fill(on, value, out.data(), n);
  on.launch(n, [value, to = out.data()](std::int64_t i) { to[i] = value; });
}

}  // namespace heddle::kernels
