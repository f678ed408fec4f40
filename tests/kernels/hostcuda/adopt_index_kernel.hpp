// SPDX-License-Identifier: Apache-2.0
// Included by heddle/detail/cuda_launch.hpp behind its kernel.
#pragma once

namespace heddle::detail {

template <std::size_t Rank, class Body, class... Args>
bool bind_index_twin(void (*kernel)(extents<Rank>, Body, Args...)) {
  return hostcuda::adopt<&index_kernel<Rank, Body, Args...>>(kernel, "index_kernel");
}

}  // namespace heddle::detail
