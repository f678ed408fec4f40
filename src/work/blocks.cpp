// SPDX-License-Identifier: Apache-2.0
// Blocks for items. An item is made by one thread and freed by another, again and again, which is the worst
// case of a general allocator: here each thread keeps some free blocks, and gives and takes them in batches.
#include <pthread.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "heddle/detail/item.hpp"
#include "work/prefetch.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t granule = 64;
constexpr std::size_t largest = 512;  // larger items are made and freed one by one
constexpr std::size_t sizes = largest / granule;
constexpr std::size_t batch = 64;  // blocks that are made, or change hands, at one time

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_blocks = false;  // so that the use of a freed item is seen
#else
constexpr bool keeps_blocks = true;
#endif

// What lies in a block while nobody uses it.
struct unused_block {
  unused_block* next;
  unused_block* ahead;  // one that comes some steps later, to be asked for now; a hint
  // Of a chain's first block in the depot, else not set:
  unused_block* chain_below;
  std::size_t count;
};

struct chain {
  unused_block* first = nullptr;
  std::size_t count = 0;
  passed<unused_block> pushed;

  void push(void* memory) noexcept {
    auto* const block = ::new (memory) unused_block;
    block->next = std::exchange(first, block);
    block->ahead = pushed.replace(block);
    ++count;
  }
  void* pop() noexcept {
    --count;
    prefetch(reinterpret_cast<std::intptr_t>(first->ahead));
    return std::exchange(first, first->next);
  }
};

// What no thread keeps. Blocks are never given back to the system, not even when a library that holds heddle
// is unloaded: there are as many as items, or futures of items, were alive at one time.
class depot {
 public:
  chain take(std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      if (unused_block* const top = full_[size]) {
        full_[size] = top->chain_below;
        return {top, top->count, {}};
      }
    }
    chain fresh;
    const std::size_t bytes = (size + 1) * granule;
    auto* const memory = static_cast<std::byte*>(::operator new (batch* bytes, std::align_val_t{granule}));
    for (std::size_t k = batch; k-- > 0;) fresh.push(memory + k * bytes);
    return fresh;
  }
  void give(std::size_t size, chain blocks) noexcept {
    if (blocks.count == 0) return;
    const std::lock_guard lock(mutex_);
    blocks.first->count = blocks.count;
    blocks.first->chain_below = std::exchange(full_[size], blocks.first);
  }

 private:
  std::mutex mutex_;
  std::array<unused_block*, sizes> full_{};  // guarded by mutex_
};

// Never destroyed: the last futures may go during the process's last static destructors.
depot& common() {
  static auto* const only = new depot;
  return *only;
}

enum class life : char { unborn, alive, over };

// Two chains of each size, so that a thread at the edge of a batch does not go to the depot at each block.
struct kept_by_thread {
  std::array<chain, sizes> now, spare;
  life phase = life::unborn;
};
constinit thread_local kept_by_thread kept;

void end_of_life(void*) noexcept {
  kept.phase = life::over;
  for (std::size_t k = 0; k < sizes; ++k) {
    common().give(k, std::exchange(kept.now[k], {}));
    common().give(k, std::exchange(kept.spare[k], {}));
  }
}

// Has each thread give its blocks away at its end. Not by an object of the thread with a destructor, which
// would keep a library that holds heddle from being unloaded while the thread lives.
class end_of_threads {
 public:
  end_of_threads() noexcept : there_(::pthread_key_create(&key_, &end_of_life) == 0) {}
  end_of_threads(const end_of_threads&) = delete;
  end_of_threads& operator=(const end_of_threads&) = delete;
  ~end_of_threads() {
    if (there_) ::pthread_key_delete(key_);
  }
  /// False: this thread must keep nothing.
  bool watch() noexcept { return there_ && ::pthread_setspecific(key_, &kept) == 0; }

 private:
  pthread_key_t key_{};
  const bool there_;
};

[[gnu::noinline]] void begin_life() noexcept {
  static end_of_threads ends;
  kept.phase = ends.watch() ? life::alive : life::over;
}

[[gnu::noinline]] void refill(std::size_t size) {
  if (kept.phase == life::unborn) begin_life();
  chain& now = kept.now[size];
  std::swap(now, kept.spare[size]);
  if (now.count == 0) now = common().take(size);
}

// Of a thread that has ended, or has as many as it keeps.
[[gnu::noinline]] void give_away(std::size_t size) noexcept {
  if (kept.phase == life::unborn) begin_life();
  chain& now = kept.now[size];
  if (kept.phase == life::alive) std::swap(now, kept.spare[size]);
  common().give(size, std::exchange(now, {}));
}

std::size_t size_of(std::size_t bytes) noexcept { return (bytes - 1) / granule; }

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (!keeps_blocks || bytes > largest) return ::operator new (bytes, std::align_val_t{granule});
  const std::size_t size = size_of(bytes);
  kept_by_thread& mine = kept;
  if (mine.now[size].count == 0) refill(size);
  void* const block = mine.now[size].pop();
  if (mine.phase == life::over) give_away(size);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  if (!keeps_blocks || bytes > largest) return ::operator delete (block, std::align_val_t{granule});
  const std::size_t size = size_of(bytes);
  kept_by_thread& mine = kept;
  mine.now[size].push(block);
  if (mine.now[size].count >= batch || mine.phase != life::alive) give_away(size);
}

}  // namespace heddle::detail
