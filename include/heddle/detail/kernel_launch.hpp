// SPDX-License-Identifier: Apache-2.0
// Needs CUDA's headers, not nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "heddle/error.hpp"

namespace heddle::detail {

/// Throws `device_error` unless `status` is success; `id` is heddle's.
inline void check_launch(cudaError_t status, const char* call, int id) {
  if (status == cudaSuccess) return;
  if (cudaPeekAtLastError() == status) (void)cudaGetLastError();  // heddle's own error, told by the exception
  throw device_error(id, call,
                     std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")",
                     static_cast<int>(status), cudaGetErrorName(status));
}

/// The handle of a kernel. Asked for in the user's own object files, since kernels are registered with the
/// CUDA runtime that these are linked to.
template <class... Params>
cudaKernel_t find_kernel(void (*kernel)(Params...), int id) {
  cudaKernel_t handle = nullptr;
  check_launch(cudaGetKernel(&handle, reinterpret_cast<const void*>(kernel)), "cudaGetKernel", id);
  return handle;
}

/// Puts a kernel on a `heddle::stream`; `find` gives its handle.
template <class Stream, class Find, class... Params, class... Args>
void put_kernel(const Stream& on, Find find, void (*)(Params...), dim3 grid, dim3 block,
                std::size_t shared_bytes, Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "a kernel needs one argument for each parameter");
  on.issue([id = on.device_id(), find, grid, block, shared_bytes,
            values = std::tuple<std::decay_t<Params>...>(std::forward<Args>(args)...)](void* native) mutable {
    std::apply(
        [&](auto&... each) {
          void* pointers[sizeof...(Params) + 1] = {const_cast<void*>(static_cast<const void*>(&each))...,
                                                   nullptr};
          cudaLaunchConfig_t config{};
          config.gridDim = grid;
          config.blockDim = block;
          config.dynamicSmemBytes = shared_bytes;
          config.stream = static_cast<cudaStream_t>(native);
          check_launch(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(find(id)), pointers),
                       "cudaLaunchKernelExC", id);
        },
        values);
  });
}

}  // namespace heddle::detail
