// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heddle/detail/item.hpp"

namespace heddle::detail {

// Who follows a chain of items that another core has written waits for each before it knows where the next
// one is: on the machine of docs/benchmarks.md some 80 ns each, and 13 where all addresses are known at once.
// So each item says where the one is that comes some steps later.

/// As many steps later as a core can wait for lines at one time, about, two lines each.
inline constexpr std::size_t prefetch_distance = 8;

/// What passed here that many steps ago.
template <class T>
class passed {
 public:
  T* replace(T* now) noexcept { return std::exchange(last_[next_++ % prefetch_distance], now); }

 private:
  std::array<T*, prefetch_distance> last_{};
  std::size_t next_ = 0;
};

/// Asks for the first two lines of what lies there, to be written. Any address; never faults.
inline void prefetch(std::intptr_t address) noexcept {
#if defined(__x86_64__)
  // The builtin asks for lines to be read unless the compiler is told of newer processors.
  asm volatile("prefetchw (%0)\n\tprefetchw 64(%0)" ::"r"(address));
#else
  __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
  __builtin_prefetch(reinterpret_cast<const void*>(address + 64), 1);
#endif
}

/// Asks for the line that lies there, to be read. Any address; never faults.
inline void prefetch_to_read(std::intptr_t address) noexcept {
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0);
}

/// Where `later` is, as seen from `it`; 0 for none, or one too far away.
inline std::int32_t lines_between(const item& it, const item* later) noexcept {
  if (later == nullptr) return 0;
  const auto lines =
      (reinterpret_cast<std::intptr_t>(later) - reinterpret_cast<std::intptr_t>(&it)) / std::intptr_t{64};
  return lines == static_cast<std::int32_t>(lines) ? static_cast<std::int32_t>(lines) : 0;
}

inline void prefetch_ahead(const item& it) noexcept {
  prefetch(reinterpret_cast<std::intptr_t>(&it) + std::intptr_t{it.ahead} * 64);
}

}  // namespace heddle::detail
