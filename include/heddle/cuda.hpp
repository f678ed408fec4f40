// SPDX-License-Identifier: Apache-2.0
// What needs CUDA's own headers: included by programs with kernels of their own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "heddle/detail/kernel_launch.hpp"
#include "heddle/stream.hpp"

namespace heddle {

/// Launches a `__global__` function in stream order, behind host functions that were put on the stream, too.
/// Arguments are copied, as the kernel's parameter types. `shared_bytes`: dynamic shared memory of a block.
/// On the item's thread; does not block. Throws `device_error`; `invalid_option` on a host device, which has
/// no kernels.
///
///     heddle::launch_kernel<&axpy>(context.stream(), grid, block, 0, n, a, x.data(), y.data());
template <auto Kernel, class... Args>
void launch_kernel(const stream& on, dim3 grid, dim3 block, std::size_t shared_bytes, Args&&... args) {
  const auto find = [](int id) {
    static const cudaKernel_t handle = detail::find_kernel(Kernel, id);  // looked up once a program
    return handle;
  };
  detail::put_kernel(on, find, Kernel, grid, block, shared_bytes, std::forward<Args>(args)...);
}

}  // namespace heddle
