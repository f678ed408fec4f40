// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "machine.hpp"

extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
}

namespace fake {

namespace {

constexpr std::size_t page = 4096;

struct block_table {
  std::shared_mutex mutex;
  std::map<std::uintptr_t, block*> by_base;
};
block_table& table() {
  static auto* const only = new block_table;
  return *only;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

block* find_block(const void* address) {
  block_table& all = table();
  const std::shared_lock lock(all.mutex);
  auto after = all.by_base.upper_bound(number(address));
  if (after == all.by_base.begin()) return nullptr;
  block* const before = (--after)->second;
  return number(address) < number(before->base) + std::max<std::size_t>(before->size, 1) ? before : nullptr;
}

void add_block(block& added) {
  the_machine().keep(&added);
  block_table& all = table();
  const std::unique_lock lock(all.mutex);
  all.by_base[number(added.base)] = &added;
}

block* take_block(const void* base) {
  block_table& all = table();
  const std::unique_lock lock(all.mutex);
  const auto found = all.by_base.find(number(base));
  if (found == all.by_base.end()) return nullptr;
  block* const taken = found->second;
  all.by_base.erase(found);
  return taken;
}

char* map_pages(std::size_t bytes, std::size_t& mapped) {
  const std::size_t length = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  void* const memory = ::mmap(nullptr, length + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::mprotect(static_cast<char*>(memory) + length, page, PROT_NONE);
  mapped = length + page;
  return static_cast<char*>(memory);
}

void unmap(block& gone) {
  if (gone.mapped == 0) return;
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(gone.base, gone.mapped - page);
  ::munmap(gone.base, gone.mapped);  // later use faults
}

void fill(const block& which, int pattern) {
  std::memset(which.base, pattern, std::min(which.size, std::size_t{16} << 20));
}

void allow(const block& which) {
  if (__asan_poison_memory_region == nullptr) return;
  __asan_unpoison_memory_region(which.base, which.size);
  __asan_poison_memory_region(which.base + which.size, which.mapped - page - which.size);
}

void forbid(const block& which) {
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(which.base, which.mapped - page);
}

cudaError_t release_block(void* base, place where) {
  block* const found = find_block(base);
  if (found == nullptr || found->base != base || found->where != where || found->freed.load()) {
    misuse("free of %p, which is no live allocation of this kind", base);
    return cudaErrorInvalidValue;
  }
  take_block(base);
  found->freed.store(true, std::memory_order_relaxed);
  found->gone.store(true, std::memory_order_relaxed);
  if (where == place::device) {
    const std::lock_guard lock(found->owner->mutex);
    found->owner->committed -= found->size;
    found->owner->in_use -= found->size;
  }
  unmap(*found);
  return cudaSuccess;
}

cudaError_t release_block_on(block* which, const void* base, stream& on) {
  if (which == nullptr || which->base != base || which->where != place::device ||
      which->freed.exchange(true)) {
    misuse("cudaFreeAsync of %p, which is no live allocation of a device", base);
    return cudaErrorInvalidValue;
  }
  {
    const std::lock_guard lock(which->owner->mutex);
    which->owner->committed -= which->size;
    which->owner->in_use -= which->size;
  }
  enqueue(on, op_kind::marker, [which] {
    which->gone.store(true, std::memory_order_relaxed);
    fill(*which, freed_pattern);
    forbid(*which);
  });
  return cudaSuccess;
}

// ---- for the control interface

void forget_blocks() {
  block_table& all = table();
  const std::unique_lock lock(all.mutex);
  for (auto& [base, each] : all.by_base) unmap(*each);
  all.by_base.clear();
}

void count_blocks(int device, long& on_device, long& on_host) {
  block_table& all = table();
  const std::shared_lock lock(all.mutex);
  for (const auto& [base, each] : all.by_base) {
    if (each->freed.load(std::memory_order_relaxed) || (device >= 0 && each->owner->id != device)) continue;
    (each->where == place::device ? on_device : on_host) += 1;
  }
}

}  // namespace fake
