// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstddef>

namespace fake {

struct device;
class mark;
struct pool;
struct stream;

enum class place { device, pinned, registered, managed };

/// One life of an allocation. Kept until the process ends, so that work in flight may ask it without a lock;
/// memory that a pool hands out again gets a new one.
struct block {
  char* base = nullptr;
  std::size_t size = 0;      // as asked for
  std::size_t mapped = 0;    // with the guard page; 0 for memory of the program's own
  std::size_t reserved = 0;  // of a pool: bytes that stand behind it, at least size
  place where = place::device;
  device* owner = nullptr;
  pool* from = nullptr;  // null: not of a pool
  /// Given to cudaFreeAsync. Work issued afterwards must not touch it.
  std::atomic<bool> freed{false};
  /// The stream got to the free. Work that runs afterwards came too late.
  std::atomic<bool> gone{false};

  bool on_device() const { return where == place::device || where == place::managed; }
  bool holds(const void* from_here, std::size_t bytes) const {
    const auto* const first = static_cast<const char*>(from_here);
    return first >= base && bytes <= size && static_cast<std::size_t>(first - base) <= size - bytes;
  }
};

/// The block around an address, freed pool memory included; null if the double does not know it. Readers do
/// not order each other.
block* find_block(const void* address);
void add_block(block& added);
/// Takes out the block that starts at `base`; null if there is none.
block* take_block(const void* base);

/// Fresh pages behind which a guard page faults; null when the machine has none.
char* map_pages(std::size_t bytes, std::size_t& mapped);
void unmap(block& gone);

/// What the bytes of a block show before first use and after the free.
constexpr int fresh_pattern = 0xFA;
constexpr int freed_pattern = 0xFD;
/// Bytes the block's first 16 MiB; the rest is left alone, big buffers would only cost time.
void fill(const block& which, int pattern);

/// For AddressSanitizer, when the process has it: the bytes of the block may be used, or not.
void allow(const block& which);
void forbid(const block& which);

/// Frees what cudaMalloc and its like made; waits for nothing.
cudaError_t release_block(void* base, place where);
/// The same for `which`, null if unknown, when the stream gets there. Its pages stay mapped until the next
/// reset.
cudaError_t release_block_on(block* which, const void* base, stream& on);

/// For the control interface.
void forget_blocks();
void count_blocks(int device, long& on_device, long& on_host);

}  // namespace fake
