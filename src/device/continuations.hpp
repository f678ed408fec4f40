// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "work/item.hpp"

namespace heddle::detail {

/// `item::device` of an item that runs on the device of the item it continues.
inline constexpr int same_device = -2;

/// `continuation::fire` of items: queues them where they belong.
void queue_follower(continuation& follower, int device) noexcept;

/// Adds an item that runs as soon as the callable of `it` has returned; false if it has, or if it never will.
bool attach_to_stream(item& it, item& follower) noexcept;

/// The callable has returned: no more of them. Those there are, in order of attachment.
item* close_stream_followers(item& it) noexcept;

}  // namespace heddle::detail
