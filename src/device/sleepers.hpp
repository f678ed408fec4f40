// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::detail {

/// Which devices sleep, so that who has something for any of them calls one, and no more than are of use. A
/// bit for each device, by its number in the driver: whoever clears it, a caller or the device itself, has
/// ended this sleep.
///
/// Nothing is left lying: a device lies down before it looks for work a last time, and looks again after it
/// has got up; a caller puts its item where it can be seen before it looks here. So either the device sees
/// the item, or the caller sees the device, or the caller sees another one that it can rely on, since that
/// has been called and has not got up yet. All of it is sequentially consistent;
/// tests/model/parked_devices.pml.
///
/// A template for tests/interleave, which puts atomics of its own in the place of the standard's.
template <template <class> class Atomic>
class basic_sleepers {
 public:
  explicit basic_sleepers(std::size_t devices) : words_((devices + 63) / 64) {}

  // The device.
  /// Once it has said in its inbox that it parks.
  void lie_down(std::size_t device) noexcept {
    words_[device / 64].fetch_or(bit(device), std::memory_order_seq_cst);
  }
  /// Whether somebody has called it.
  bool get_up(std::size_t device) noexcept {
    const std::uint64_t before = words_[device / 64].fetch_and(~bit(device), std::memory_order_seq_cst);
    if (before & bit(device)) return false;
    on_their_way_.fetch_sub(1, std::memory_order_seq_cst);
    return true;
  }

  // Any thread.
  bool any() const noexcept {
    for (const auto& each : words_) {
      if (each.load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }
  std::size_t count() const noexcept {
    std::size_t all = 0;
    for (const auto& each : words_) {
      all += static_cast<std::size_t>(std::popcount(each.load(std::memory_order_relaxed)));
    }
    return all;
  }
  /// Ends the sleep of one, which the caller has to wake; empty if there is none, or `enough` that have been
  /// called are on their way.
  std::optional<std::size_t> call(int enough) noexcept {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      std::uint64_t asleep = words_[k].load(std::memory_order_seq_cst);
      while (asleep != 0) {
        // Counted too late rather than too early: at worst each caller calls one more than is of use.
        if (on_their_way_.load(std::memory_order_seq_cst) >= enough) return std::nullopt;
        const std::size_t device = 64 * k + next_of(asleep);
        asleep = words_[k].fetch_and(~bit(device), std::memory_order_seq_cst);
        if ((asleep & bit(device)) == 0) continue;
        on_their_way_.fetch_add(1, std::memory_order_seq_cst);
        last_called_.store(static_cast<unsigned>(device % 64), std::memory_order_relaxed);
        return device;
      }
    }
    return std::nullopt;
  }

 private:
  static std::uint64_t bit(std::size_t device) noexcept { return std::uint64_t{1} << device % 64; }
  // In turns, among those of one word.
  std::size_t next_of(std::uint64_t asleep) const noexcept {
    const unsigned turn = (last_called_.load(std::memory_order_relaxed) + 1) % 64;
    return (static_cast<unsigned>(std::countr_zero(std::rotr(asleep, static_cast<int>(turn)))) + turn) % 64;
  }

  std::vector<Atomic<std::uint64_t>> words_;
  alignas(64) Atomic<int> on_their_way_{0};  // called, and not up yet; never more than there are
  std::atomic<unsigned> last_called_{63};    // publishes nothing
};

using sleepers = basic_sleepers<std::atomic>;

}  // namespace heddle::detail
