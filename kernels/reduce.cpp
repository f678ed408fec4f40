// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/gpu.hpp"
#include "kernels/reduce_body.hpp"

namespace heddle::kernels {
namespace {

// lane_sum() of every lane, row by row as the numbers lie in memory.
double block_sum(const float* x, std::int64_t n, std::int64_t block) {
  constexpr std::int64_t row = std::int64_t{reduce_blocks} * reduce_threads;
  double sums[reduce_threads] = {};
  for (std::int64_t from = block * reduce_threads; from < n; from += row) {
    const auto here = std::min<std::int64_t>(reduce_threads, n - from);
    for (std::int64_t lane = 0; lane < here; ++lane) sums[lane] += static_cast<double>(x[from + lane]);
  }
  return tree_sum(sums);
}

}  // namespace

void reduce(const device_context& context, std::span<const float> x, std::span<double, 1> sum) {
  const auto on = context.stream();
  const auto n = static_cast<std::int64_t>(x.size());
  double* const partials = context.scratch<double>(reduce_blocks).data();
  if (!on.on_host()) return gpu::reduce(on, x.data(), n, partials, sum.data());
  on.launch(reduce_blocks, [partials, n, from = x.data()](std::int64_t block) {
    partials[block] = block_sum(from, n, block);
  });
  on.enqueue([partials, to = sum.data()] { *to = tree_sum(partials); });
}

}  // namespace heddle::kernels
