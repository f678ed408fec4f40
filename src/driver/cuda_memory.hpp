// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace heddle::detail {

/// A stream-ordered memory pool of our own on one device: the attributes of the default pool belong to the
/// application. It keeps what is freed, so that an allocation costs no call into the operating system. Any
/// thread that has the device's context current.
class cuda_memory {
 public:
  /// `id` is heddle's. Throws `device_error`.
  cuda_memory(int cuda_device, int id);
  cuda_memory(const cuda_memory&) = delete;
  cuda_memory& operator=(const cuda_memory&) = delete;
  ~cuda_memory();

  /// Lets the kernels and copies of another device reach the pool's memory. Throws `device_error`.
  void open_to(int cuda_device);
  /// For work put on `stream` from now on. Throws `out_of_device_memory`.
  void* allocate(std::size_t bytes, cudaStream_t stream);
  /// Once the work put on `stream` so far is done.
  void deallocate(void* memory, cudaStream_t stream) noexcept;

 private:
  const int id_;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace heddle::detail
