// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::detail {

/// What one place of a scheduler has done with items so far. The counts only grow, each place has its own
/// line, and who wants a sum adds them up: so an item costs a device thread no operation on memory that
/// others write.
class alignas(64) tally {
 public:
  enum class writers { one, several };
  explicit tally(writers who) noexcept : alone_(who == writers::one) {}

  /// The callable of an item is entered.
  void start() noexcept { add(started_, 1); }
  /// A started item has ended; the last thing done for it. Release: publishes its end to `drain`.
  void end() noexcept { add(ended_, 1); }
  void fail() noexcept { add(failed_, 1); }
  /// Items ended unstarted.
  void drop(std::size_t count) noexcept { add(dropped_, count); }

  // Any thread. Acquire: what ended items did is visible.
  std::uint64_t started() const noexcept { return started_.load(std::memory_order_acquire); }
  std::uint64_t ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  std::uint64_t failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_acquire); }

 private:
  void add(std::atomic<std::uint64_t>& count, std::size_t more) noexcept {
    if (alone_) {
      count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_release);
    } else {
      count.fetch_add(more, std::memory_order_release);
    }
  }

  const bool alone_;
  std::atomic<std::uint64_t> started_{0}, ended_{0}, failed_{0}, dropped_{0};
};

}  // namespace heddle::detail
