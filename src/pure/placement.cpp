// SPDX-License-Identifier: Apache-2.0
#include "pure/placement.hpp"

#include <algorithm>

#include "pure/admission.hpp"

namespace heddle::detail {
namespace {

// SplitMix64: the state walks by this odd constant, the output is the mixed state.
constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// First output of the generator for seed 1234567, as its published implementation gives it.
static_assert(mix(1234567 + golden_gamma) == 6457827717110365317u);

}  // namespace

std::optional<std::size_t> home_of_key(std::uint64_t key, std::span<const std::uint8_t> usable) noexcept {
  std::uint64_t state = mix(key + golden_gamma);
  std::optional<std::size_t> home;
  std::uint64_t heaviest = 0;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    // Unusable devices draw too: the weights of the others must not depend on who is there.
    const std::uint64_t weight = mix(state += golden_gamma);
    if (usable[i] == 0 || (home && weight <= heaviest)) continue;
    home = i;
    heaviest = weight;
  }
  return home;
}

bool spills(std::size_t home_queued, std::size_t least_queued, std::size_t window) noexcept {
  return home_queued > least_queued && home_queued - least_queued >= window;
}

std::size_t next_chunk(std::size_t left, std::size_t n, std::size_t devices) noexcept {
  const auto divided = [](std::size_t by, std::size_t k) { return by / k + (by % k != 0); };  // rounded up
  // In several steps, which gives the same quotient and cannot overflow.
  const auto quarter = [&](std::size_t calls) {
    return divided(divided(calls, std::max<std::size_t>(devices, 1)), 4);
  };
  return std::max<std::size_t>({quarter(left), divided(quarter(n), 16), 1});
}

std::size_t next_stream(std::span<const std::size_t> in_flight, std::size_t start) noexcept {
  if (in_flight.empty()) return 0;
  std::size_t best = start % in_flight.size();
  for (std::size_t k = 1; k < in_flight.size(); ++k) {
    const std::size_t i = (start % in_flight.size() + k) % in_flight.size();
    if (in_flight[i] < in_flight[best]) best = i;
  }
  return best;
}

}  // namespace heddle::detail
