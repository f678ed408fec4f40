// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace heddle::detail {

/// A clock for questions such as whether something took very long: each tick lasts some 0.2 to 1 ns, how long
/// is not known. Costs half as much as the steady clock.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace heddle::detail
