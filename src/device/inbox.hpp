// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "heddle/detail/item.hpp"
#include "work/futex.hpp"

namespace heddle::detail {

/// The word and the calls that an inbox sleeps by. tests/interleave puts a word of its own in their place,
/// which lets it choose at each access who comes next.
struct kernel_futex {
  using word = std::atomic<std::uint64_t>;
  static void wait(word& w, std::uint64_t seen) noexcept { futex_wait(w, seen); }
  static void wait_until(word& w, std::uint64_t seen, std::chrono::steady_clock::time_point limit) noexcept {
    futex_wait_until(w, seen, limit);
  }
  static void wake_all(word& w) noexcept { futex_wake_all(w); }
};

/// Where items arrive, or whole runs of them: a stack of one word, pushed by any thread, taken whole by the
/// consumer. The word can also say that the consumer sleeps, so that exactly one push per sleep makes the
/// call that wakes it, and no wake is lost. tests/model/inbox.pml is a model of it.
template <class Futex>
class basic_inbox {
 public:
  /// True if the consumer sleeps: then the caller must call `wake`. Release: publishes the item to `take`.
  bool push(continuation& arrival) noexcept {
    std::uint64_t old = word_.load(std::memory_order_relaxed);
    do {
      arrival.next = old == parked ? nullptr : reinterpret_cast<continuation*>(old);
    } while (!word_.compare_exchange_weak(old, reinterpret_cast<std::uint64_t>(&arrival),
                                          std::memory_order_seq_cst, std::memory_order_relaxed));
    return old == parked;
  }

  /// All arrivals, newest first; null if there are none.
  continuation* take() noexcept {
    if (word_.load(std::memory_order_relaxed) <= parked) return nullptr;
    const std::uint64_t old = word_.exchange(0, std::memory_order_seq_cst);
    return old == parked ? nullptr : reinterpret_cast<continuation*>(old);
  }

  bool empty() const noexcept { return word_.load(std::memory_order_seq_cst) <= parked; }

  /// Consumer: says that it is going to sleep; false if items have arrived.
  bool try_park() noexcept {
    std::uint64_t expected = 0;
    return word_.compare_exchange_strong(expected, parked, std::memory_order_seq_cst);
  }
  /// Consumer: takes that back.
  void unpark() noexcept {
    std::uint64_t expected = parked;
    word_.compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
  }
  /// Consumer: sleeps until something else than `try_park` stands in the word.
  void sleep() noexcept {
    while (word_.load(std::memory_order_acquire) == parked) Futex::wait(word_, parked);
  }
  /// Consumer: the same, until `limit` at most, once.
  void sleep_until(std::chrono::steady_clock::time_point limit) noexcept {
    if (word_.load(std::memory_order_acquire) == parked) Futex::wait_until(word_, parked, limit);
  }

  bool sleeping() const noexcept { return word_.load(std::memory_order_seq_cst) == parked; }
  /// Any thread: ends a sleep without a push; false if the consumer does not sleep, or another thread was
  /// first.
  bool poke() noexcept {
    std::uint64_t expected = parked;
    if (!word_.compare_exchange_strong(expected, 0, std::memory_order_seq_cst)) return false;
    wake();
    return true;
  }
  void wake() noexcept { Futex::wake_all(word_); }

 private:
  static constexpr std::uint64_t parked = 1;  // no arrival's address

  // 0: empty and awake; `parked`: empty and asleep, or about to be; else the newest arrival. A push publishes
  // it to `take`. Sequentially consistent with the bits of those who sleep: see sleepers.hpp.
  alignas(64) typename Futex::word word_{0};
};

using inbox = basic_inbox<kernel_futex>;

}  // namespace heddle::detail
