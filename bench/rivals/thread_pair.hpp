// SPDX-License-Identifier: Apache-2.0
// Two threads that hand one word to and fro: what no hand-over of an item can beat.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace bench {

/// Looks at the word all the time. On two cores, since on one each waits for the end of the other's time
/// slice, and the system leaves them there.
struct spinning {
  static constexpr bool apart = true;
  static void wait(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
    while (word.load(std::memory_order_acquire) == old) __builtin_ia32_pause();
  }
  static void changed(std::atomic<std::uint32_t>&) {}
};

/// Sleeps at once, by the system call that conditions and semaphores are made of.
struct sleeping {
  static constexpr bool apart = false;
  static void wait(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
    while (word.load(std::memory_order_acquire) == old) {
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
    }
  }
  static void changed(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
};

template <class Waiting>
class thread_pair {
 public:
  /// Starts the other thread, which lives from here to `stop()`: a spinning one would disturb the rivals.
  void start() {
    asked_ = answered_ = 0;
    sched_getaffinity(0, sizeof all_, &all_);
    if (Waiting::apart && CPU_COUNT(&all_) > 1) keep_to(static_cast<std::size_t>(sched_getcpu()), true);
    other_ = std::thread([this, here = static_cast<std::size_t>(sched_getcpu())] {
      if (Waiting::apart && CPU_COUNT(&all_) > 1) keep_to(here, false);
      for (std::uint32_t seen = 0; seen != stop_word;) {
        Waiting::wait(asked_, seen);
        seen = asked_.load(std::memory_order_acquire);
        answered_.store(seen, std::memory_order_release);
        Waiting::changed(answered_);
      }
    });
  }
  void stop() {
    asked_ = stop_word;
    Waiting::changed(asked_);
    other_.join();
    if (Waiting::apart) sched_setaffinity(0, sizeof all_, &all_);
  }
  /// To the other thread and back.
  void round_trip() {
    const std::uint32_t before = asked_.load(std::memory_order_relaxed);
    asked_.store(before + 1, std::memory_order_release);
    Waiting::changed(asked_);
    Waiting::wait(answered_, before);
  }

 private:
  // The calling thread, to this core or to all others.
  void keep_to(std::size_t core, bool alone) const {
    cpu_set_t mask = all_;
    if (alone) CPU_ZERO(&mask);
    alone ? CPU_SET(core, &mask) : CPU_CLR(core, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
  }

  static constexpr std::uint32_t stop_word = ~std::uint32_t{0};
  alignas(64) std::atomic<std::uint32_t> asked_{0};
  alignas(64) std::atomic<std::uint32_t> answered_{0};
  std::thread other_;
  cpu_set_t all_{};  // that the process may use
};

}  // namespace bench
