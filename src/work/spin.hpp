// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace heddle::detail {

/// Tells the processor that this is a spin.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What a wake costs, about: longer than this no spin pays.
inline constexpr std::chrono::microseconds longest_spin{30};

/// Spins until `reached()`, but no longer than pays.
template <class Reached>
bool spin_until(Reached reached) noexcept {
  const auto limit = std::chrono::steady_clock::now() + longest_spin;
  for (;;) {
    for (int k = 0; k < 16; ++k) {
      if (reached()) return true;
      relax();
    }
    if (std::chrono::steady_clock::now() >= limit) return false;
  }
}

}  // namespace heddle::detail
