// SPDX-License-Identifier: Apache-2.0
// Counts what items did, without a word that all threads write to: that would be what is measured.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bench {

class tally {
 public:
  /// Any thread. At most `slots` threads of the process may count; those behind them share the last slot.
  void add(std::int64_t value) {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t mine = threads.fetch_add(1);
    if (mine < slots - 1) {
      auto& own = counts_[mine].value;
      own.store(own.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    } else {
      counts_[slots - 1].value.fetch_add(value, std::memory_order_relaxed);
    }
  }
  /// Since the last call. No item may run meanwhile.
  std::int64_t take() {
    std::int64_t sum = 0;
    for (auto& each : counts_) sum += each.value.exchange(0);
    return sum;
  }

 private:
  static constexpr std::size_t slots = 1024;
  struct alignas(64) count {
    std::atomic<std::int64_t> value{0};
  };
  std::array<count, slots> counts_;
};

}  // namespace bench
