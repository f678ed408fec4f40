// SPDX-License-Identifier: Apache-2.0
// Fences for pairs of threads each of which writes one thing and then looks at the other's: one of the two
// sees the other.
#pragma once

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_UNDER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_UNDER_TSAN
#endif
#endif

namespace heddle::detail {

/// Orders what this thread wrote before it against what it reads after it.
inline void full_fence() noexcept {
#if defined(HEDDLE_UNDER_TSAN)
  // The thread sanitizer knows no fences; on x86 an operation on a line of one's own does the same.
  static constinit thread_local std::atomic<int> mine{0};
  mine.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Whether `costly_fence` does the work of both sides. Written before the first scheduler starts a thread.
extern bool one_sided_fences;

/// The same two fences for a pair in which one side comes by all the time and the other one seldom: the first
/// costs nothing, since the second one makes all cores of the process pass a fence (membarrier(2); the idea:
/// P. McKenney, sys_membarrier, 2010). Where the kernel does not do that both are full.
inline void cheap_fence() noexcept {
  if (one_sided_fences) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full_fence();
  }
}
/// False if the kernel has refused, whatever it said before: then the other side has passed no fence.
bool costly_fence() noexcept;

/// Asks the kernel for it. Any thread; before the first pair.
void prepare_fences() noexcept;

}  // namespace heddle::detail
