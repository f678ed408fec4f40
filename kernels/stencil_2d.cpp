// SPDX-License-Identifier: Apache-2.0
#include "kernels/stencil_2d.hpp"

#include <cstdint>

#include "kernels/gpu.hpp"
#include "kernels/sizes.hpp"
#include "kernels/stencil_2d_body.hpp"

namespace heddle::kernels {

void stencil_2d(const device_context& context, float k, std::span<const float> in, std::span<float> out,
                extents<2> size) {
  check_size("stencil_2d", "in", in.size(), size.size());
  check_size("stencil_2d", "out", out.size(), size.size());
  if (size.size() == 0) return;
  const auto on = context.stream();
  if (!on.on_host()) return gpu::stencil_2d(on, k, in.data(), out.data(), size[0], size[1]);
  on.launch(size, [k, size, from = in.data(), to = out.data()](std::int64_t y, std::int64_t x) {
    to[y * size[1] + x] = stencil_value(k, from, size[0], size[1], y, x);
  });
}

}  // namespace heddle::kernels
