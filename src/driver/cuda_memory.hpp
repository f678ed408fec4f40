// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace heddle::detail {

/// Memory of one device, from a stream-ordered pool that all schedulers of the process share: the attributes
/// of the default pool belong to the application. It keeps what is freed, so that an allocation costs no call
/// into the operating system. Where the device has no pools, as some virtual ones, memory is allocated and
/// freed by itself, which is slow. Any thread that has the device's context current.
class cuda_memory {
 public:
  /// `id` is heddle's. Throws `device_error`.
  cuda_memory(int cuda_device, int id);
  cuda_memory(const cuda_memory&) = delete;
  cuda_memory& operator=(const cuda_memory&) = delete;

  /// Lets the kernels and copies of another device reach the pool's memory, if there is a pool. Throws
  /// `device_error`.
  void open_to(int cuda_device);
  /// For work put on `stream` from now on. Throws `out_of_device_memory`.
  void* allocate(std::size_t bytes, cudaStream_t stream);
  /// Once the work put on `stream` so far is done.
  void deallocate(void* memory, cudaStream_t stream) noexcept;

 private:
  struct pool;
  static std::shared_ptr<pool> pool_of(int cuda_device, int id);
  cudaError_t try_allocate(void** memory, std::size_t bytes, cudaStream_t stream) const noexcept;

  const int id_;
  const std::shared_ptr<pool> pool_;  // null: the device has none
};

}  // namespace heddle::detail
