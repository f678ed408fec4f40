// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu.hpp"
#include "kernels/launch.cuh"
#include "kernels/reduce_body.hpp"

namespace heddle::kernels::gpu {
namespace {

// For all threads of the block; only thread 0 gets the answer.
__device__ double add_block(double mine) {
  __shared__ double sums[reduce_threads];
  const auto lane = static_cast<int>(threadIdx.x);
  sums[lane] = mine;
  for (int half = reduce_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    add_upper_half(sums, lane, half);
  }
  return lane == 0 ? sums[0] : 0;
}

}  // namespace

__global__ void reduce_kernel(const float* x, std::int64_t n, double* partials) {
  const double sum = add_block(lane_sum(x, n, blockIdx.x, threadIdx.x));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void reduce_partials_kernel(const double* partials, double* sum) {
  const double all = add_block(partials[threadIdx.x]);
  if (threadIdx.x == 0) *sum = all;
}

void reduce(const stream& on, const float* x, std::int64_t n, double* partials, double* sum) {
  launch_kernel<&reduce_kernel>(on, dim3(reduce_blocks), dim3(reduce_threads), 0, x, n, partials);
  launch_kernel<&reduce_partials_kernel>(on, dim3(1), dim3(reduce_threads), 0, partials, sum);
}

}  // namespace heddle::kernels::gpu
