// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "stream.hpp"

namespace fake {

struct block;

/// A memory pool of one device. Never freed, see stream.hpp. All of it happens on the host, in the order of
/// the calls, but for the bytes: those change when the stream gets there, and the host takes no lock that a
/// stream takes, since that would order it after the stream's work.
struct pool {
  explicit pool(device& on);

  std::atomic<std::uint32_t> magic{live_pool};
  device& owner;

  std::mutex mutex;  // guards the rest; before owner.mutex
  std::uint64_t release_threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  int follow_event_dependencies = 1, opportunistic = 1, internal_dependencies = 1;
  std::set<int> access;  // devices that may touch its memory
  long live = 0;         // blocks handed out

  cudaError_t allocate(void** out, std::size_t bytes, stream& on);
  /// In the stream's order: usable again by what comes later on the same stream, or by all once it is done.
  cudaError_t free_on(block& which, const void* memory, stream& on);
  /// Everything that used it is done.
  cudaError_t free_now(block& which, const void* memory);
  /// Gives memory that nobody uses back to the device, as long as at least `keep` bytes stay reserved.
  void trim(std::uint64_t keep);
  /// What a synchronising call does: a trim to the threshold.
  void trim_to_threshold();
  bool may_touch(int device);

 private:
  struct kept {
    char* base;
    std::size_t bytes, mapped;
    stream* freed_on;  // null: done
    mark* freed_at;
    bool done() const { return freed_at == nullptr || freed_at->ready(); }
  };
  bool take_kept(std::size_t bytes, stream& on, kept& found);
  void trim_locked(std::uint64_t keep);
  bool hand_back(block& which, const void* memory);

  std::vector<kept> unused_;
};

pool* pool_of(cudaMemPool_t handle);

/// Called by what synchronises with a device: its pools give back what is above their threshold.
void trim_pools(device& on);

}  // namespace fake
