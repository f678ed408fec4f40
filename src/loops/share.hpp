// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace heddle::detail {

/// Grains of a loop, [first, last) of them, that nobody has begun: its owner takes them from the front,
/// whoever helps it from the back. One word, so that each grain is taken once. Any thread.
class share {
 public:
  struct grains {
    std::uint32_t first, last;
  };

  /// Before it is shared.
  void fill(grains g) noexcept { word_.store(pack(g), std::memory_order_relaxed); }

  std::optional<std::uint32_t> take_first() noexcept {
    std::uint64_t old = word_.load(std::memory_order_relaxed);
    for (;;) {
      const grains g = unpack(old);
      if (g.first == g.last) return std::nullopt;
      if (word_.compare_exchange_weak(old, pack({g.first + 1, g.last}), std::memory_order_relaxed))
        return g.first;
    }
  }

  std::optional<std::uint32_t> take_last() noexcept {
    std::uint64_t old = word_.load(std::memory_order_relaxed);
    for (;;) {
      const grains g = unpack(old);
      if (g.first == g.last) return std::nullopt;
      if (word_.compare_exchange_weak(old, pack({g.first, g.last - 1}), std::memory_order_relaxed))
        return g.last - 1;
    }
  }

  /// All from `grain` on.
  grains take_from(std::uint32_t grain) noexcept {
    std::uint64_t old = word_.load(std::memory_order_relaxed);
    for (;;) {
      const grains g = unpack(old);
      const std::uint32_t cut = std::max(g.first, grain);
      if (cut >= g.last) return {cut, cut};
      if (word_.compare_exchange_weak(old, pack({g.first, cut}), std::memory_order_relaxed))
        return {cut, g.last};
    }
  }

 private:
  static std::uint64_t pack(grains g) noexcept { return std::uint64_t{g.last} << 32 | g.first; }
  static grains unpack(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }

  // Publishes nothing: what the grains are was fixed before the threads began, what they made is published by
  // the end of the items. No grain comes back, so a word that was read is never true again once it has
  // changed.
  alignas(64) std::atomic<std::uint64_t> word_{0};
};

}  // namespace heddle::detail
