// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heddle::detail {

/// What the choice needs to know of the item at the head of one queue.
struct queue_head {
  int priority = 0;          ///< larger first
  std::uint64_t ticket = 0;  ///< smaller is older
};

/// One start in this many goes to the oldest item whatever its priority. An item with k older ones queued
/// on its device therefore starts within (k + 1) * fair_every starts of that device, under any load.
inline constexpr std::uint64_t fair_every = 32;

/// Which head starts next on a device that has started `starts` items so far: the highest priority, among
/// equals the oldest ticket; on every `fair_every`-th start the oldest ticket of all. Index into `heads`;
/// empty if there are none. Equal tickets: the first.
std::optional<std::size_t> pick(std::span<const queue_head> heads, std::uint64_t starts) noexcept;

}  // namespace heddle::detail
