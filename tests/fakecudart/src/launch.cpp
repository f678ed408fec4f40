// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "entry.hpp"
#include "kernels.hpp"

namespace fake {

namespace {

// Limits of a current device, as cudaDeviceGetAttribute gives them.
constexpr std::size_t most_threads = 1024;
constexpr unsigned most_grid_y_z = 65535;
constexpr unsigned most_block_z = 64;
constexpr std::size_t most_shared_bytes = std::size_t{227} * 1024;

/// A twin's copy of the arguments; moved from the host to the stream, never shared.
class packed_arguments {
 public:
  packed_arguments(const fakecuda_twin& twin, void** arguments) : twin_(twin), held_(twin.pack(arguments)) {}
  packed_arguments(packed_arguments&& other) noexcept
      : twin_(other.twin_), held_(std::exchange(other.held_, nullptr)) {}
  packed_arguments& operator=(packed_arguments&&) = delete;
  ~packed_arguments() {
    if (held_ != nullptr) twin_.drop(held_);
  }
  void run(const fakecuda_launch& where) const { twin_.run(held_, &where); }

 private:
  fakecuda_twin twin_;
  void* held_;
};

bool legal(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > most_threads || block.z > most_block_z) return false;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffU) return false;
  return grid.y <= most_grid_y_z && grid.z <= most_grid_y_z && shared_bytes <= most_shared_bytes;
}

// The first use of a kernel on a device loads it, and in harsh mode waits for the device first, which a
// kernel that waits for another one does not survive.
void load(kernel* what, device& on) {
  if (what == nullptr || !on.home->harsh.load(std::memory_order_relaxed)) return;
  const unsigned long long bit = 1ULL << (static_cast<unsigned>(on.id) % 64);
  if ((what->loaded.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) on.wait_idle();
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                   stream& on, device& current) {
  if (&on.dev != &current) {
    misuse("a kernel launched into a stream of device %d while device %d is current", on.dev.id, current.id);
    return cudaErrorInvalidResourceHandle;
  }
  if (!legal(grid, block, shared_bytes)) return cudaErrorInvalidConfiguration;
  kernel* const known = find_kernel(function);
  fakecuda_twin twin{};
  const bool runs = find_twin(known == nullptr ? function : known->host, twin);
  if (!runs && !current.home->ignore_missing_twins.load(std::memory_order_relaxed)) {
    misuse("no host twin for kernel %s", known == nullptr ? "?" : known->name.c_str());
    return cudaErrorInvalidDeviceFunction;
  }
  load(known, current);
  sleep_us(current.launch_us.load(std::memory_order_relaxed));
  const auto executed = [by = &current] {
    sleep_us(by->kernel_us.load(std::memory_order_relaxed));
    by->kernels.fetch_add(1, std::memory_order_relaxed);
  };
  if (!runs) {
    enqueue(on, op_kind::work, executed);
    return cudaSuccess;
  }
  const fakecuda_launch where{
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, current.id};
  enqueue(on, op_kind::work, [where, executed, held = packed_arguments(twin, arguments)] {
    held.run(where);
    executed();
  });
  return cudaSuccess;
}

cudaError_t occupancy(int* blocks, int block_size) {
  if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
  *blocks = std::min(2048 / block_size, 32);
  return cudaSuccess;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream_handle) {
  self().configurations.push_back({grid, block, shared_bytes, stream_handle});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream_handle) {
  auto& stack = self().configurations;
  if (stack.empty()) return fail(cudaErrorMissingConfiguration);
  *grid = stack.back().grid;
  *block = stack.back().block;
  *shared_bytes = stack.back().shared_bytes;
  *static_cast<cudaStream_t*>(stream_handle) = stack.back().stream;
  stack.pop_back();
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t handle) {
  return call_on_stream<"cudaLaunchKernel">(handle, [&](stream& on, device& current) {
    return launch(function, grid, block, arguments, shared_bytes, on, current);
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t what, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t handle) {
  return call_on_stream<"cudaLaunchKernel">(handle, [&](stream& on, device& current) -> cudaError_t {
    if (what == nullptr) return cudaErrorInvalidResourceHandle;
    return launch(what, grid, block, arguments, shared_bytes, on, current);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** arguments) {
  return call_on_stream<"cudaLaunchKernelExC">(how->stream, [&](stream& on, device& current) {
    return launch(function, how->gridDim, how->blockDim, arguments, how->dynamicSmemBytes, on, current);
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call_on_device<"cudaFuncGetAttributes">([&](device& current) -> cudaError_t {
    kernel* const known = find_kernel(function);
    if (known == nullptr) return cudaErrorInvalidDeviceFunction;
    load(known, current);
    std::memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = static_cast<int>(most_threads);
    attributes->numRegs = 32;
    attributes->binaryVersion = 90;
    attributes->ptxVersion = 90;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call_on_device<"cudaFuncGetName">([&](device&) -> cudaError_t {
    const kernel* const known = find_kernel(function);
    if (known == nullptr || name == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = known->name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute, int) {
  return call_on_device<"cudaFuncSetAttribute">([&](device&) {
    return find_kernel(function) == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size, size_t) {
  return call_on_device<"cudaOccupancyMaxActiveBlocksPerMultiprocessor">(
      [&](device&) { return occupancy(blocks, block_size); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int block_size,
                                                                   size_t, unsigned) {
  return call_on_device<"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags">(
      [&](device&) { return occupancy(blocks, block_size); });
}
}
