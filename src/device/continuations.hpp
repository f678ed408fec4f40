// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "work/item.hpp"

namespace heddle::detail {

/// `item::device` of an item that runs on the device of the item it continues.
inline constexpr int same_device = -2;

/// Adds an item that runs as soon as the callable of `it` has returned; false if it has, or if it never will.
bool attach_to_stream(item& it, item& follower) noexcept;

/// The callable has returned: those there are, in order of attachment. What comes later is fired by the end.
item* close_stream_followers(item& it) noexcept;

}  // namespace heddle::detail
