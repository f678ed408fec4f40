// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose.hpp"

#include <cstdint>

#include "kernels/gpu.hpp"
#include "kernels/sizes.hpp"
#include "kernels/transpose_body.hpp"

namespace heddle::kernels {

void transpose(const device_context& context, std::span<const float> in, std::span<float> out,
               extents<2> size) {
  check_size("transpose", "in", in.size(), size.size());
  check_size("transpose", "out", out.size(), size.size());
  if (size.size() == 0) return;
  const auto on = context.stream();
  if (!on.on_host()) return gpu::transpose(on, in.data(), out.data(), size[0], size[1]);
  on.launch(extents{pieces_of(size[0], tile_side), pieces_of(size[1], tile_side)},
            [size, from = in.data(), to = out.data()](std::int64_t y, std::int64_t x) {
              transpose_tile({y, x}, from, to, size[0], size[1]);
            });
}

}  // namespace heddle::kernels
