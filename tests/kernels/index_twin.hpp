// SPDX-License-Identifier: Apache-2.0
// Included by heddle/detail/cuda_launch.hpp in the tests that nvcc compiles: gives each of its kernels a host
// function for the double of the CUDA runtime to run. Does nothing on NVIDIA's. It is the loop of host
// devices: the kernel's own one exists for devices only here, and is run by the tests in hostcuda/.
#pragma once

#include <tbb/task_arena.h>

#include <cstddef>

#include "fakecudart_twin.hpp"

namespace heddle::detail {

template <class Body, class... Args>
class host_call;

template <std::size_t Rank, class Body, class... Args>
void index_twin(const fakecuda_launch&, extents<Rank> size, Body body, Args... args) {
  const host_call<Body, Args...> call(body, args...);
  tbb::task_arena(1).execute([&] { host_loop(size, call); });  // alone: TBB's workers are the devices'
}

/// A lambda marked __device__ alone has no host code, and gets no twin.
template <std::size_t Rank, class Body, class... Args>
bool bind_index_twin(void (*kernel)(extents<Rank>, Body, Args...)) {
  if constexpr (device_only_body<Body>) {
    return false;
  } else {
    return fakecuda::bind<&index_twin<Rank, Body, Args...>>(kernel, "index_kernel");
  }
}

}  // namespace heddle::detail
