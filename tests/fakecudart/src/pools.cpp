// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "block.hpp"
#include "entry.hpp"
#include "pool.hpp"

namespace fake {

namespace {

// The default pool's settings belong to the application; a library that reads or sets them is seen here.
void note_touch(pool& which) {
  if (which.owner.default_pool == &which)
    which.owner.default_pool_touched.fetch_add(1, std::memory_order_relaxed);
}

cudaError_t set_attribute(pool& which, cudaMemPoolAttr attribute, const void* value) {
  const std::lock_guard lock(which.mutex);
  const auto bytes = [&] { return *static_cast<const std::uint64_t*>(value); };
  const auto flag = [&] { return *static_cast<const int*>(value); };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      which.follow_event_dependencies = flag();
      return cudaSuccess;
    case cudaMemPoolReuseAllowOpportunistic:
      which.opportunistic = flag();
      return cudaSuccess;
    case cudaMemPoolReuseAllowInternalDependencies:
      which.internal_dependencies = flag();
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      which.release_threshold = bytes();
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
      if (bytes() != 0) return cudaErrorInvalidValue;
      which.reserved_high = which.reserved;
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
      if (bytes() != 0) return cudaErrorInvalidValue;
      which.used_high = which.used;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t get_attribute(pool& which, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(which.mutex);
  const auto bytes = [&](std::uint64_t number) {
    *static_cast<std::uint64_t*>(value) = number;
    return cudaSuccess;
  };
  const auto flag = [&](int number) {
    *static_cast<int*>(value) = number;
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      return flag(which.follow_event_dependencies);
    case cudaMemPoolReuseAllowOpportunistic:
      return flag(which.opportunistic);
    case cudaMemPoolReuseAllowInternalDependencies:
      return flag(which.internal_dependencies);
    case cudaMemPoolAttrReleaseThreshold:
      return bytes(which.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent:
      return bytes(which.reserved);
    case cudaMemPoolAttrReservedMemHigh:
      return bytes(which.reserved_high);
    case cudaMemPoolAttrUsedMemCurrent:
      return bytes(which.used);
    case cudaMemPoolAttrUsedMemHigh:
      return bytes(which.used_high);
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t allocate_from(pool& from, void** out, std::size_t bytes, stream& on) {
  if (on.recording.load(std::memory_order_relaxed) != nullptr) return cudaErrorNotSupported;  // memory nodes
  return from.allocate(out, bytes, on);
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int ordinal) {
  return call<"cudaDeviceGetDefaultMemPool">([&]() -> cudaError_t {
    device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    *out = reinterpret_cast<cudaMemPool_t>(named->default_pool);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int ordinal) {
  return call<"cudaDeviceGetMemPool">([&]() -> cudaError_t {
    device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    const std::lock_guard lock(named->mutex);
    *out = reinterpret_cast<cudaMemPool_t>(named->current_pool);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int ordinal, cudaMemPool_t handle) {
  return call<"cudaDeviceSetMemPool">([&]() -> cudaError_t {
    device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    pool* const chosen = pool_of(handle);
    if (chosen == nullptr) return cudaErrorInvalidValue;
    if (&chosen->owner != named) {
      misuse("a pool of device %d made current on device %d", chosen->owner.id, ordinal);
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(named->mutex);
    named->current_pool = chosen;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return call<"cudaMemPoolCreate">([&]() -> cudaError_t {
    if (out == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
    device* const named = the_machine().at(properties->location.id);
    if (named == nullptr) return cudaErrorInvalidDevice;
    auto* const made = new pool(*named);
    the_machine().keep(made);
    const std::lock_guard lock(named->mutex);
    named->pools.insert(made);
    *out = reinterpret_cast<cudaMemPool_t>(made);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call<"cudaMemPoolDestroy">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr) return cudaErrorInvalidValue;
    device& owner = named->owner;
    if (owner.default_pool == named) {
      misuse("the default pool of device %d cannot be destroyed", owner.id);
      return cudaErrorInvalidValue;
    }
    named->magic.store(dead_handle, std::memory_order_relaxed);
    named->trim(0);  // what is still in use goes when it is freed and a later call synchronises
    const std::lock_guard lock(owner.mutex);
    if (owner.current_pool == named) owner.current_pool = owner.default_pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return call<"cudaMemPoolSetAttribute">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr || value == nullptr) return cudaErrorInvalidValue;
    note_touch(*named);
    return set_attribute(*named, attribute, value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return call<"cudaMemPoolGetAttribute">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr || value == nullptr) return cudaErrorInvalidValue;
    note_touch(*named);
    return get_attribute(*named, attribute, value);
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  return call<"cudaMemPoolTrimTo">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr) return cudaErrorInvalidValue;
    named->trim(keep);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list, size_t count) {
  return call<"cudaMemPoolSetAccess">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr || (list == nullptr && count > 0)) return cudaErrorInvalidValue;
    note_touch(*named);
    for (std::size_t index = 0; index < count; ++index) {
      const int other = list[index].location.id;
      if (list[index].location.type != cudaMemLocationTypeDevice || the_machine().at(other) == nullptr)
        return cudaErrorInvalidValue;
      if (other == named->owner.id) {
        if (list[index].flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;
        continue;
      }
      if (!the_machine().at(other)->reachable[static_cast<std::size_t>(named->owner.id)])
        return cudaErrorInvalidValue;
      const std::lock_guard lock(named->mutex);
      if (list[index].flags == cudaMemAccessFlagsProtNone)
        named->access.erase(other);
      else
        named->access.insert(other);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return call<"cudaMemPoolGetAccess">([&]() -> cudaError_t {
    pool* const named = pool_of(handle);
    if (named == nullptr || flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    note_touch(*named);
    *flags = named->may_touch(location->id) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t handle) {
  return call_on_stream<"cudaMallocAsync">(handle, [&](stream& on, device&) {
    pool* from = nullptr;
    {
      const std::lock_guard lock(on.dev.mutex);
      from = on.dev.current_pool;
    }
    return allocate_from(*from, out, bytes, on);
  });
}

cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream_handle) {
  return call_on_stream<"cudaMallocFromPoolAsync">(stream_handle, [&](stream& on, device&) -> cudaError_t {
    pool* const from = pool_of(handle);
    if (from == nullptr) return cudaErrorInvalidValue;
    return allocate_from(*from, out, bytes, on);
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle) {
  return call_on_stream<"cudaFreeAsync">(handle, [&](stream& on, device&) -> cudaError_t {
    if (memory == nullptr) return cudaSuccess;
    if (on.recording.load(std::memory_order_relaxed) != nullptr) return cudaErrorNotSupported;
    block* const found = find_block(memory);
    if (found != nullptr && found->from != nullptr) return found->from->free_on(*found, memory, on);
    return release_block_on(found, memory, on);
  });
}
}
