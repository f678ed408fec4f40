// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu.hpp"
#include "kernels/launch.cuh"
#include "kernels/transpose_body.hpp"

namespace heddle::kernels::gpu {

__global__ void transpose_kernel(const float* in, float* out, std::int64_t height, std::int64_t width) {
  __shared__ tile part;
  const auto x = static_cast<int>(threadIdx.x);
  const auto y = static_cast<int>(threadIdx.y);
  for (std::int64_t down = blockIdx.y; down < pieces_of(height, tile_side); down += gridDim.y) {
    for (std::int64_t across = blockIdx.x; across < pieces_of(width, tile_side); across += gridDim.x) {
      read_tile(part, {down, across}, x, y, in, height, width);
      __syncthreads();
      write_tile(part, {down, across}, x, y, out, height, width);
      __syncthreads();
    }
  }
}

void transpose(const stream& on, const float* in, float* out, std::int64_t height, std::int64_t width) {
  const dim3 tiles(blocks_for(width, tile_side, most_blocks_x), blocks_for(height, tile_side, most_blocks_y));
  launch_kernel<&transpose_kernel>(on, tiles, dim3(tile_side, tile_rows_at_once), 0, in, out, height, width);
}

}  // namespace heddle::kernels::gpu
