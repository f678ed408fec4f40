// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_memory.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "driver/cuda_error.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

struct cuda_memory::pool {
  ~pool() { clear_own_error(cudaMemPoolDestroy(handle)); }
  cudaMemPool_t handle = nullptr;
};

// All schedulers of the process share it: what one of them keeps is there for the others.
std::shared_ptr<cuda_memory::pool> cuda_memory::pool_of(int cuda_device, int id) {
  struct registry {
    std::mutex mutex;
    std::map<int, std::weak_ptr<pool>> pools;  // guarded by mutex
  };
  static auto* const all = new registry;  // schedulers may outlive what is static
  const std::lock_guard lock(all->mutex);
  auto& known = all->pools[cuda_device];
  if (auto shared = known.lock()) return shared;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = cuda_device;
  cudaMemPool_t handle = nullptr;
  const cudaError_t status = cudaMemPoolCreate(&handle, &properties);
  if (status == cudaErrorNotSupported) {
    clear_own_error(status);
    return nullptr;
  }
  check_cuda(status, "cudaMemPoolCreate", id);
  auto made = std::make_shared<pool>();
  made->handle = handle;
  // The default, 0, gives everything back at each synchronisation.
  std::uint64_t keep_all = std::numeric_limits<std::uint64_t>::max();
  check_cuda(cudaMemPoolSetAttribute(handle, cudaMemPoolAttrReleaseThreshold, &keep_all),
             "cudaMemPoolSetAttribute", id);
  known = made;
  return made;
}

cuda_memory::cuda_memory(int cuda_device, int id) : id_(id), pool_(pool_of(cuda_device, id)) {}

void cuda_memory::open_to(int cuda_device) {
  if (!pool_) return;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = cuda_device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  // cudaDeviceEnablePeerAccess says nothing about the memory of pools.
  check_cuda(cudaMemPoolSetAccess(pool_->handle, &access, 1), "cudaMemPoolSetAccess", id_);
}

cudaError_t cuda_memory::try_allocate(void** memory, std::size_t bytes, cudaStream_t stream) const noexcept {
  return pool_ ? cudaMallocFromPoolAsync(memory, bytes, pool_->handle, stream) : cudaMalloc(memory, bytes);
}

void* cuda_memory::allocate(std::size_t bytes, cudaStream_t stream) {
  void* memory = nullptr;
  cudaError_t status = try_allocate(&memory, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error(status);
    if (pool_) clear_own_error(cudaMemPoolTrimTo(pool_->handle, 0));  // what it keeps may lie in pieces
    status = try_allocate(&memory, bytes, stream);
  }
  const std::string call =
      (pool_ ? "cudaMallocFromPoolAsync of " : "cudaMalloc of ") + std::to_string(bytes) + " bytes";
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
  if (pool_) return clear_own_error(cudaFreeAsync(memory, stream));
  clear_own_error(cudaStreamSynchronize(stream));
  clear_own_error(cudaFree(memory));
}

}  // namespace heddle::detail
