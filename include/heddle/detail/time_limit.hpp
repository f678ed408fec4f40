// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace heddle::detail {

/// The last time that is a limit: what is later means for ever.
inline constexpr auto last_limit = std::chrono::steady_clock::time_point::max() - std::chrono::hours(1);

/// Now plus `limit`, but no later than that: std::chrono::hours::max() is a limit that people write. Now, if
/// it is negative or not a number.
template <class Rep, class Period>
std::chrono::steady_clock::time_point time_limit(std::chrono::duration<Rep, Period> limit) {
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  const auto now = clock::now();
  if (!(seconds(limit) > seconds(0))) return now;
  if (seconds(limit) >= seconds(last_limit - now)) return last_limit;
  return now + std::chrono::ceil<clock::duration>(limit);
}

}  // namespace heddle::detail
