// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace heddle::detail {

/// Now plus `limit`, but no later than the clock can tell: std::chrono::hours::max() is a limit that people
/// write.
template <class Rep, class Period>
std::chrono::steady_clock::time_point time_limit(std::chrono::duration<Rep, Period> limit) {
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  const auto now = clock::now();
  constexpr auto last = clock::time_point::max() - std::chrono::hours(1);  // max() itself means for ever
  if (seconds(limit) >= seconds(last - now)) return last;
  return now + std::chrono::ceil<clock::duration>(limit);
}

}  // namespace heddle::detail
