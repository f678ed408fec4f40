// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <algorithm>

#include "block.hpp"
#include "device.hpp"
#include "machine.hpp"

namespace fake {

pool::pool(device& on) : owner(on) { access.insert(on.id); }

pool* pool_of(cudaMemPool_t handle) {
  auto* const named = reinterpret_cast<pool*>(handle);
  if (named != nullptr && named->magic.load(std::memory_order_relaxed) == live_pool) return named;
  misuse("unknown or destroyed memory pool %p", static_cast<void*>(handle));
  return nullptr;
}

bool pool::may_touch(int device) {
  const std::lock_guard lock(mutex);
  return access.count(device) != 0;
}

// Memory that was freed on the same stream is usable at once, whatever the stream has reached; memory of
// another stream only when that one is done with it. Only pieces of just this size: CUDA's pools split what
// they keep, this one gives it back and maps anew, so that a small piece never holds a large one's room.
bool pool::take_kept(std::size_t bytes, stream& on, kept& found) {
  auto best = unused_.begin();
  while (best != unused_.end() && (best->bytes != bytes || (best->freed_on != &on && !best->done()))) ++best;
  if (best == unused_.end()) return false;
  found = *best;
  unused_.erase(best);
  return true;
}

cudaError_t pool::allocate(void** out, std::size_t bytes, stream& on) {
  if (out == nullptr || bytes == 0) return cudaErrorInvalidValue;
  auto* const made = new block;
  const std::lock_guard lock(mutex);
  kept old{};
  if (take_kept(bytes, on, old)) {
    take_block(old.base);
    made->base = old.base;
    made->mapped = old.mapped;
    made->size = bytes;
    made->reserved = old.bytes;
  } else {
    const auto has_room = [&] {
      const std::lock_guard device_lock(owner.mutex);
      if (bytes > owner.capacity || owner.committed > owner.capacity - bytes) return false;
      owner.committed += bytes;
      return true;
    };
    bool room = has_room();
    if (!room) {
      trim_locked(0);  // pieces of the wrong size
      room = has_room();
    }
    made->base = room ? map_pages(bytes, made->mapped) : nullptr;
    made->size = bytes;
    made->reserved = bytes;
    if (made->base == nullptr) {
      delete made;
      return cudaErrorMemoryAllocation;
    }
    reserved += bytes;
    reserved_high = std::max(reserved_high, reserved);
  }
  made->owner = &owner;
  made->from = this;
  used += bytes;
  used_high = std::max(used_high, used);
  ++live;
  {
    const std::lock_guard device_lock(owner.mutex);
    owner.in_use += bytes;
  }
  add_block(*made);
  enqueue(on, op_kind::marker, [made] {
    allow(*made);
    fill(*made, fresh_pattern);
  });
  *out = made->base;
  return cudaSuccess;
}

bool pool::hand_back(block& which, const void* memory) {
  if (which.base != memory || which.freed.exchange(true, std::memory_order_relaxed)) {
    misuse("free of %p, which is no live allocation of a pool", memory);
    return false;
  }
  used -= which.size;
  --live;
  const std::lock_guard device_lock(owner.mutex);
  owner.in_use -= which.size;
  return true;
}

cudaError_t pool::free_on(block& which, const void* memory, stream& on) {
  const std::lock_guard lock(mutex);
  if (!hand_back(which, memory)) return cudaErrorInvalidValue;
  // The write is the free as the thread sanitizer sees it: work on another stream that is not ordered before
  // it races with it.
  enqueue(on, op_kind::marker, [gone = &which] {
    gone->gone.store(true, std::memory_order_relaxed);
    fill(*gone, freed_pattern);
    forbid(*gone);
  });
  unused_.push_back({which.base, which.reserved, which.mapped, &on, on.mark_now()});
  return cudaSuccess;
}

cudaError_t pool::free_now(block& which, const void* memory) {
  const std::lock_guard lock(mutex);
  if (!hand_back(which, memory)) return cudaErrorInvalidValue;
  which.gone.store(true, std::memory_order_relaxed);
  fill(which, freed_pattern);
  forbid(which);
  unused_.push_back({which.base, which.reserved, which.mapped, nullptr, nullptr});
  trim_locked(release_threshold);
  return cudaSuccess;
}

void pool::trim_locked(std::uint64_t keep) {
  for (auto each = unused_.begin(); each != unused_.end() && reserved > keep;) {
    if (!each->done() || each->bytes > reserved - keep) {
      ++each;
      continue;
    }
    if (block* const gone = take_block(each->base)) unmap(*gone);
    reserved -= each->bytes;
    {
      const std::lock_guard device_lock(owner.mutex);
      owner.committed -= each->bytes;
    }
    each = unused_.erase(each);
  }
}

void pool::trim(std::uint64_t keep) {
  const std::lock_guard lock(mutex);
  trim_locked(keep);
}

void pool::trim_to_threshold() {
  const std::lock_guard lock(mutex);
  const bool destroyed = magic.load(std::memory_order_relaxed) != live_pool;
  trim_locked(destroyed ? 0 : release_threshold);
}

void trim_pools(device& on) {
  std::vector<pool*> all;
  {
    const std::lock_guard lock(on.mutex);
    if (on.committed == on.in_use) return;
    all.assign(on.pools.begin(), on.pools.end());
  }
  for (pool* const each : all) each->trim_to_threshold();
}

}  // namespace fake
