// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace heddle::detail {

// The kernel compares 32 bits, so callers keep what wakes a sleeper in the low half of their word. A wake
// needs the address only: the word may be gone by then, since the kernel does not read it.

inline std::uint32_t* futex_address(std::atomic<std::uint64_t>& word) noexcept {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<std::uint32_t*>(&word);
}

/// Sleeps while the low half of `word` equals that of `seen`; may return without cause.
inline void futex_wait(std::atomic<std::uint64_t>& word, std::uint64_t seen) noexcept {
  ::syscall(SYS_futex, futex_address(word), FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(seen), nullptr,
            nullptr, 0);
}

/// The same, until `limit` at most.
inline void futex_wait_until(std::atomic<std::uint64_t>& word, std::uint64_t seen,
                             std::chrono::steady_clock::time_point limit) noexcept {
  const auto since_boot =
      limit.time_since_epoch();  // steady_clock is CLOCK_MONOTONIC, as the bitset variant wants
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  timespec when{};
  when.tv_sec = static_cast<std::time_t>(seconds.count());
  when.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count());
  ::syscall(SYS_futex, futex_address(word), FUTEX_WAIT_BITSET_PRIVATE, static_cast<std::uint32_t>(seen),
            &when, nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void futex_wake_all(std::atomic<std::uint64_t>& word) noexcept {
  ::syscall(SYS_futex, futex_address(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace heddle::detail
