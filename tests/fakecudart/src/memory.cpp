// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "block.hpp"
#include "entry.hpp"
#include "pool.hpp"

namespace fake {

namespace {

cudaError_t allocate(void** out, std::size_t bytes, place where, device& on) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (where == place::device) {
    const std::lock_guard lock(on.mutex);
    if (bytes > on.capacity || on.committed > on.capacity - bytes) return cudaErrorMemoryAllocation;
    on.committed += bytes;
    on.in_use += bytes;
  }
  auto* const made = new block;
  made->base = map_pages(bytes, made->mapped);
  made->size = bytes;
  made->where = where;
  made->owner = &on;
  if (made->base == nullptr) {
    delete made;
    return cudaErrorMemoryAllocation;
  }
  fill(*made, fresh_pattern);  // fresh memory is not zero
  allow(*made);
  add_block(*made);
  *out = made->base;
  return cudaSuccess;
}

cudaError_t allocate_host(void** out, std::size_t bytes, device& current) {
  return allocate(out, bytes, place::pinned, current);
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaMalloc(void** out, size_t bytes) {
  return call_on_device<"cudaMalloc">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMalloc")) return cudaErrorStreamCaptureUnsupported;
    return allocate(out, bytes, place::device, current);
  });
}

cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned) {
  return call_on_device<"cudaMallocManaged">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMallocManaged")) return cudaErrorStreamCaptureUnsupported;
    return allocate(out, bytes, place::managed, current);
  });
}

cudaError_t cudaMallocHost(void** out, size_t bytes) {
  return call_on_device<"cudaMallocHost">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaMallocHost")) return cudaErrorStreamCaptureUnsupported;
    return allocate_host(out, bytes, current);
  });
}

cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  return call_on_device<"cudaHostAlloc">([&](device& current) -> cudaError_t {
    if (capture_forbids("cudaHostAlloc")) return cudaErrorStreamCaptureUnsupported;
    return allocate_host(out, bytes, current);
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return call_on_device<"cudaFreeHost">([&](device& current) -> cudaError_t {
    if (memory == nullptr) return cudaSuccess;
    if (capture_forbids("cudaFreeHost")) return cudaErrorStreamCaptureUnsupported;
    current.wait_idle();
    return release_block(memory, place::pinned);
  });
}

cudaError_t cudaFree(void* memory) {
  return call_on_device<"cudaFree">([&](device&) -> cudaError_t {
    if (memory == nullptr) return cudaSuccess;
    if (capture_forbids("cudaFree")) return cudaErrorStreamCaptureUnsupported;
    block* const found = find_block(memory);
    if (found == nullptr) return release_block(memory, place::device);
    // Pool memory: the caller says that all its accesses are complete, and nothing is waited for.
    if (found->from != nullptr) return found->from->free_now(*found, memory);
    found->owner->wait_idle();
    return release_block(memory, found->where == place::managed ? place::managed : place::device);
  });
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  return call_on_device<"cudaHostRegister">([&](device& current) -> cudaError_t {
    if (memory == nullptr || bytes == 0) return cudaErrorInvalidValue;
    if (find_block(memory) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    auto* const made = new block;
    made->base = static_cast<char*>(memory);
    made->size = bytes;
    made->where = place::registered;
    made->owner = &current;
    add_block(*made);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return call_on_device<"cudaHostUnregister">([&](device& current) -> cudaError_t {
    const block* const found = find_block(memory);
    if (found == nullptr || found->base != memory || found->where != place::registered)
      return cudaErrorHostMemoryNotRegistered;
    current.wait_idle();
    return release_block(memory, place::registered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** out, void* memory, unsigned) {
  return call_on_device<"cudaHostGetDevicePointer">([&](device&) -> cudaError_t {
    const block* const found = find_block(memory);
    if (found == nullptr || found->where == place::device) return cudaErrorInvalidValue;
    *out = memory;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory) {
  return call_on_device<"cudaHostGetFlags">([&](device&) -> cudaError_t {
    const block* const found = find_block(memory);
    if (found == nullptr || found->where == place::device) return cudaErrorInvalidValue;
    *flags = cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call_on_device<"cudaMemGetInfo">([&](device& current) -> cudaError_t {
    const std::lock_guard lock(current.mutex);
    if (total_bytes != nullptr) *total_bytes = current.capacity;
    if (free_bytes != nullptr) *free_bytes = current.capacity - std::min(current.capacity, current.committed);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return call<"cudaPointerGetAttributes">([&]() -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->device = cudaInvalidDeviceId;
    const block* const found = find_block(memory);
    const bool freed = found != nullptr && found->freed.load(std::memory_order_relaxed);
    if (freed) misuse("cudaPointerGetAttributes of %p after cudaFreeAsync", memory);
    if (found == nullptr || freed) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->hostPointer = const_cast<void*>(memory);
      return cudaSuccess;
    }
    attributes->device = found->owner->id;
    attributes->devicePointer = const_cast<void*>(memory);
    if (found->where != place::device) attributes->hostPointer = const_cast<void*>(memory);
    switch (found->where) {
      case place::device:
        attributes->type = cudaMemoryTypeDevice;
        break;
      case place::managed:
        attributes->type = cudaMemoryTypeManaged;
        break;
      default:
        attributes->type = cudaMemoryTypeHost;
    }
    return cudaSuccess;
  });
}
}
