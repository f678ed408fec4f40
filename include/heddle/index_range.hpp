// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/device_code.hpp"

namespace heddle {

/// The indices begin, begin + 1, …, end - 1; none if `end` is not above `begin`. A plain value, for host and
/// device code.
struct index_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  /// Number of indices. Unsigned, so that it holds for every range, up to 2^64 - 1.
  HEDDLE_HOST_DEVICE constexpr std::uint64_t size() const noexcept {
    return empty() ? 0 : static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  }
  HEDDLE_HOST_DEVICE constexpr bool empty() const noexcept { return end <= begin; }

  /// Same begin and same end; two empty ranges at different places differ.
  HEDDLE_HOST_DEVICE friend constexpr bool operator==(const index_range& a, const index_range& b) noexcept {
    return a.begin == b.begin && a.end == b.end;
  }
};

}  // namespace heddle
