// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace heddle::detail {

/// The whole numbers that an option accepts.
struct whole_range {
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;

  constexpr bool contains(std::uint64_t value) const noexcept { return lowest <= value && value <= highest; }
  /// "a whole number from 1 to 64".
  std::string described() const {
    return "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest);
  }
};

/// What options and variables alike accept. Where 0 is not in the range, an option of 0 still means its
/// default; for a variable that is what leaving it out means.
inline constexpr whole_range host_devices_range = {0, 1024};
/// The device thread, at least one worker, and one slot free for those who enter from outside.
inline constexpr whole_range arena_threads_range = {3, 1024};
inline constexpr whole_range streams_range = {1, 64};
inline constexpr whole_range window_range = {1, 1024};
inline constexpr whole_range capacity_range = {1, std::numeric_limits<std::size_t>::max()};
inline constexpr whole_range id_range = {0, std::numeric_limits<int>::max()};

inline constexpr std::string_view device_examples = "0, host:1 or a uuid";

}  // namespace heddle::detail
