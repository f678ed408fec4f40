// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// A copy in memory of the item's device; `numbers` must outlive the item's stream work.
template <class T>
std::span<T> uploaded(const device_context& context, const std::vector<T>& numbers) {
  const auto there = context.scratch<T>(numbers.size());
  context.copy(there, numbers);
  return there;
}

/// Numbers of both signs whose low bits differ, so that roundings show.
inline std::vector<float> numbers(std::size_t n, std::uint64_t seed = 1) {
  std::vector<float> made(n);
  for (float& each : made) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    each = static_cast<float>(static_cast<std::int64_t>(seed) >> 30) * 1.1e-9F;
  }
  return made;
}

}  // namespace heddle::test
