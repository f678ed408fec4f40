// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace heddle::test {

/// The seed of a stress test: HEDDLE_TEST_SEED where it is set, else another one each time. It is printed, so
/// that a run that fails can be tried again.
inline std::uint64_t stress_seed() {
  const char* const given = std::getenv("HEDDLE_TEST_SEED");
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<std::uint64_t>(now) % 1000000007u;
  std::printf("HEDDLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Choices of one thread.
class dice {
 public:
  dice(std::uint64_t seed, int thread) : random_(seed * 1000003u + static_cast<std::uint64_t>(thread)) {}
  /// From 0 to `n` - 1.
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

}  // namespace heddle::test
