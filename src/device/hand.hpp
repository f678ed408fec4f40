// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heddle/detail/item.hpp"

namespace heddle::detail {

/// The next few items of a device thread, taken from the queues at one time, so that their locks are paid for
/// once. It owns none of them before `pop`: a device with nothing to do takes one away, and so does who
/// cancels.
class hand {
 public:
  static constexpr std::size_t places = 16;

  // The device thread.
  /// Adds the next item; only so many between two times that `pop` finds nothing. `for_anyone`: other devices
  /// may take it away.
  void add(item& it, bool for_anyone) noexcept {
    // Release: publishes the item to who takes it away.
    words_[end_++].store(reinterpret_cast<std::uintptr_t>(&it) | (for_anyone ? anyone : 0),
                         std::memory_order_release);
  }
  bool full() const noexcept { return end_ == places; }
  /// Takes the oldest item; null if there is none.
  item* pop() noexcept {
    while (next_ < end_) {
      const std::uintptr_t word = words_[next_++].exchange(0, std::memory_order_acq_rel);
      if (word != 0) return item_of(word);
    }
    next_ = end_ = 0;
    return nullptr;
  }
  /// Says whether other devices may find something here; seq_cst with the devices that park. True may be left
  /// standing when all is gone.
  void offer(bool something) noexcept {
    if (offers_.load(std::memory_order_relaxed) != something)
      offers_.store(something, std::memory_order_seq_cst);
  }

  // Any thread.
  /// Whether there is something for anyone.
  bool offers() const noexcept {
    return offers_.load(std::memory_order_seq_cst) &&
           std::any_of(words_.begin(), words_.end(),
                       [](const auto& each) { return (each.load(std::memory_order_relaxed) & anyone) != 0; });
  }
  /// Takes away the oldest item that is for anyone; null if there is none.
  item* take_for_anyone() noexcept { return take(anyone); }
  /// Takes away the oldest item; null if there is none.
  item* take_any() noexcept { return take(0); }

 private:
  static constexpr std::uintptr_t anyone = 1;  // in the place of an address's lowest bit
  static item* item_of(std::uintptr_t word) noexcept { return reinterpret_cast<item*>(word & ~anyone); }

  item* take(std::uintptr_t flag) noexcept {
    for (auto& each : words_) {
      std::uintptr_t word = each.load(std::memory_order_relaxed);
      // Acquire: what `add` published. The item is not looked at before it is ours.
      while (word != 0 && (word & flag) == flag) {
        if (each.compare_exchange_weak(word, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) {
          return item_of(word);
        }
      }
    }
    return nullptr;
  }

  alignas(64) std::array<std::atomic<std::uintptr_t>, places> words_{};
  std::size_t next_ = 0, end_ = 0;  // the device thread's own
  alignas(64) std::atomic<bool> offers_{false};
};

}  // namespace heddle::detail
