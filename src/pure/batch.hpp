// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace heddle::detail {

/// How many items a device takes from the queues at one time, after it took `last` and was `took` about them.
/// One, unless they are so short that taking each costs more than it is worth; then up to `most`. So what is
/// long goes to whichever device is free when its turn comes.
std::size_t next_batch(std::size_t last, std::chrono::nanoseconds took, std::size_t most) noexcept;

/// How many of `waiting` items that any of `devices` may take one device takes at most: its even share of
/// half of them, so that the others find some, too.
std::size_t fair_share(std::size_t waiting, std::size_t devices) noexcept;

}  // namespace heddle::detail
