// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_memory.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "driver/cuda_error.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

cuda_memory::cuda_memory(int cuda_device, int id) : id_(id) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = cuda_device;
  check_cuda(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate", id);
  // The default, 0, gives everything back at each synchronisation.
  std::uint64_t keep_all = std::numeric_limits<std::uint64_t>::max();
  const cudaError_t status = cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all);
  if (status != cudaSuccess) clear_own_error(cudaMemPoolDestroy(pool_));
  check_cuda(status, "cudaMemPoolSetAttribute", id);
}

cuda_memory::~cuda_memory() { clear_own_error(cudaMemPoolDestroy(pool_)); }

void cuda_memory::open_to(int cuda_device) {
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = cuda_device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  // cudaDeviceEnablePeerAccess says nothing about the memory of pools.
  check_cuda(cudaMemPoolSetAccess(pool_, &access, 1), "cudaMemPoolSetAccess", id_);
}

void* cuda_memory::allocate(std::size_t bytes, cudaStream_t stream) {
  void* memory = nullptr;
  cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error(status);
    clear_own_error(cudaMemPoolTrimTo(pool_, 0));  // what it keeps may lie in too small pieces
    status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  }
  const std::string call = "cudaMallocFromPoolAsync of " + std::to_string(bytes) + " bytes";
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error(status);
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    clear_own_error(cudaMemGetInfo(&free_bytes, &total_bytes));
    throw out_of_device_memory(id_, call,
                               cuda_text(status) + "; " + std::to_string(free_bytes) + " bytes free of " +
                                   std::to_string(total_bytes) + "; use smaller pieces",
                               static_cast<int>(status), cudaGetErrorName(status));
  }
  check_cuda(status, call, id_);
  return memory;
}

void cuda_memory::deallocate(void* memory, cudaStream_t stream) noexcept {
  clear_own_error(cudaFreeAsync(memory, stream));
}

}  // namespace heddle::detail
