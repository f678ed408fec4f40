// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heddle::detail {

/// Index of the device that items of `key` belong to, among those whose entry in `usable` is not 0; empty if
/// there is none. Depends on nothing but the arguments. When a device stops being usable only its own keys
/// move, and they move back when it returns.
///
/// Rendezvous hashing: each device draws a weight for the key, the largest wins (D. Thaler, C. Ravishankar,
/// "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998). The
/// weights are successive outputs of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014) seeded by the key, itself mixed once so that neighbouring keys are not
/// neighbouring seeds.
std::optional<std::size_t> home_of_key(std::uint64_t key, std::span<const std::uint8_t> usable) noexcept;

/// Whether an item that may leave its home does so: when the home holds at least one whole window of items
/// more than the device that holds the fewest.
bool spills(std::size_t home_queued, std::size_t least_queued, std::size_t window) noexcept;

/// Calls in the next item of a map of `n` calls that states no chunk, when `left` of them are left: a quarter
/// of a device's even share of what is left, rounded up, so that items get shorter towards the end, and the
/// devices end together though calls and devices are unequal (C. Polychronopoulos, D. Kuck, "Guided
/// self-scheduling", IEEE Transactions on Computers 36(12), 1987). At least a sixteenth of the first one,
/// rounded up, and 1.
std::size_t next_chunk(std::size_t left, std::size_t n, std::size_t devices) noexcept;

/// Index of the stream with the fewest items in flight; among equals the first at or after `start`, going
/// round. `in_flight` has one entry a stream and is never empty.
std::size_t next_stream(std::span<const std::size_t> in_flight, std::size_t start) noexcept;

}  // namespace heddle::detail
