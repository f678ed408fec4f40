// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "heddle/detail/item.hpp"

namespace heddle::detail {

/// Throws `would_deadlock` where the caller may not wait for items.
void refuse_wait_on_arena_thread(const char* call);
/// Whether this process is a fork of one that made a scheduler: there destructors do nothing.
bool in_forked_child() noexcept;
/// Waits for an item that refers to the caller's stack: never returns before it has ended. Where the wait can
/// never be served the item is cancelled, and `refusal` says so.
void wait_to_the_end(item&, std::exception_ptr& refusal);

}  // namespace heddle::detail
