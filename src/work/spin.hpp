// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace heddle::detail {

/// Tells the processor that this is a spin.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The CPU that this thread runs on.
inline std::int16_t this_cpu() noexcept { return static_cast<std::int16_t>(::sched_getcpu()); }

/// What a wake costs, about: longer than this no spin pays.
inline constexpr std::chrono::microseconds longest_spin{30};
/// What costs next to nothing, even where it is in vain.
inline constexpr std::chrono::microseconds shortest_spin{1};

/// How many threads may spin for long at one time: as many as there are cores that the process may use.
class spin_permit {
 public:
  spin_permit() noexcept : granted_(spinning.fetch_add(1, std::memory_order_relaxed) < most()) {}
  spin_permit(const spin_permit&) = delete;
  spin_permit& operator=(const spin_permit&) = delete;
  ~spin_permit() { spinning.fetch_sub(1, std::memory_order_relaxed); }

  bool granted() const noexcept { return granted_; }
  /// What a scheduler that starts has found: the most counts, since some are made by threads that may use
  /// few.
  static void set_cores(int count) noexcept {
    int most_so_far = cores.load(std::memory_order_relaxed);
    while (most_so_far < count &&
           !cores.compare_exchange_weak(most_so_far, count, std::memory_order_relaxed)) {
    }
  }
  static int cores_or_one() noexcept { return std::max(cores.load(std::memory_order_relaxed), 1); }
  static int most() noexcept {
    const int count = cores.load(std::memory_order_relaxed);
    return count > 1 ? count : 0;  // on a single core the other side cannot act meanwhile
  }

 private:
  static inline std::atomic<int> spinning{0}, cores{0};  // publish nothing: counts
  const bool granted_;
};

/// Keeps the CPU for that long, about.
inline void spin_for(std::chrono::nanoseconds time) noexcept {
  using clock = std::chrono::steady_clock;
  for (const auto end = clock::now() + time; clock::now() < end;) relax();
}

/// Spins until `reached()`, but no longer than `limit`, nor than pays.
template <class Reached>
bool spin_until(Reached reached, std::chrono::nanoseconds limit = longest_spin) noexcept {
  using clock = std::chrono::steady_clock;
  const auto spin_to = [&](clock::time_point end) {
    do {
      for (int k = 0; k < 16; ++k) {
        if (reached()) return true;
        relax();
      }
    } while (clock::now() < end);
    return false;
  };
  if (spin_permit::most() == 0) return reached();
  const auto begin = clock::now();
  if (spin_to(begin + std::min<std::chrono::nanoseconds>(limit, shortest_spin))) return true;
  if (limit <= shortest_spin) return false;
  const spin_permit permit;
  return permit.granted() && spin_to(begin + limit);
}

/// Gives the CPU to whoever waits for it there, and learns from how long that takes: a thread of this program
/// that is about to act comes back soon, a busy neighbour keeps the CPU for milliseconds.
class polite_yield {
 public:
  /// Whether the last ones came back soon, or lie long enough back.
  bool pays() noexcept {
    if (to_skip_ == 0) return true;
    --to_skip_;
    return false;
  }
  /// False if it did not come back soon.
  bool operator()() noexcept {
    const auto begin = std::chrono::steady_clock::now();
    ::sched_yield();
    if (std::chrono::steady_clock::now() - begin < soon) {
      penalty_ = std::max(penalty_ / 2, 64u);
      return true;
    }
    to_skip_ = penalty_;
    penalty_ = std::min(penalty_ * 4, 16384u);
    return false;
  }

 private:
  static constexpr std::chrono::microseconds soon{200};
  unsigned to_skip_ = 0, penalty_ = 64;
};

/// How long it pays to spin for something that came soon, or did not, the last times.
class spin_habit {
 public:
  std::chrono::nanoseconds next() noexcept {
    return ++turns_ % try_again_every == 0 ? std::chrono::nanoseconds(longest_spin) : now_;
  }
  void learn(bool came) noexcept {
    now_ = came ? std::chrono::nanoseconds(longest_spin)
                : std::max<std::chrono::nanoseconds>(now_ / 2, shortest_spin);
  }

 private:
  static constexpr unsigned try_again_every = 64;
  std::chrono::nanoseconds now_ = longest_spin;
  unsigned turns_ = 0;
};

}  // namespace heddle::detail
