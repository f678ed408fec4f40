// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "heddle/options.hpp"

namespace heddle::detail {

/// The books of a scheduler: how many items have not ended, how many have not started, and who may still
/// submit. Any thread.
class ledger {
 public:
  ledger(std::size_t capacity, when_full policy) noexcept : capacity_(capacity), policy_(policy) {}

  // Pending: items that were accepted and have not ended, counted before they can be seen by any thread.

  /// Counts `count` items; false, and nothing counted, if the scheduler is stopped, or closed and the caller
  /// is not `inside` one of its items.
  bool enter(std::size_t count, bool inside) noexcept;
  /// Counts more items along with one that was counted and has not ended.
  void enter_more(std::size_t count) noexcept { state_.fetch_add(count, std::memory_order_relaxed); }
  void leave(std::size_t count) noexcept;

  // Unstarted: what the queue's capacity bounds.

  /// Counts between 1 and `count` unstarted items and says how many; 0 if the queue is full and
  /// `may_not_wait` or the policy is reject (then all or none). Blocks for room otherwise.
  std::size_t reserve(std::size_t count, bool may_not_wait);
  /// Counts unstarted items that may not be refused: continuations of items that were accepted.
  void reserve_anyway(std::size_t count) noexcept { unstarted_.fetch_add(count, std::memory_order_relaxed); }
  void start(std::size_t count) noexcept;

  void close() noexcept;
  bool closed() const noexcept;
  /// Blocks until nothing is pending, or the time is over; whether nothing is pending.
  bool drain_until(std::chrono::steady_clock::time_point limit);
  /// Ends all submission if nothing is pending; false if something is.
  bool stop_if_idle() noexcept;

  void refuse() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t pending() const noexcept;
  std::uint64_t unstarted() const noexcept { return unstarted_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_; }
  when_full policy() const noexcept { return policy_; }

 private:
  void wake() noexcept;

  const std::size_t capacity_;
  const when_full policy_;
  std::atomic<std::uint64_t> state_{
      0};  // pending, with two flags at the top; publishes the end of items to drain
  std::atomic<std::uint64_t> unstarted_{0};  // publishes nothing: a count
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint32_t> sleepers_{0};  // threads in drain or reserve; seq_cst with the counts
  std::mutex mutex_;                        // orders a sleeper's last look before the wake
  std::condition_variable changed_;
};

}  // namespace heddle::detail
