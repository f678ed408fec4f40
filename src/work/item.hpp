// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>

#include "heddle/detail/item.hpp"
#include "work/item_extras.hpp"

namespace heddle::detail {

/// Stands in `item::on_stream` once what was attached there has been taken: more comes too late.
extern continuation stream_followers_closed;

/// How the route of an item was decided; `item::reason`.
enum class route_reason : std::uint8_t { any, pinned, keyed, spilled, follows };

/// Takes the right to run an unstarted item. False if a canceller ended it or another thread runs it.
bool claim(item&) noexcept;
/// The same for who has taken it out of its queue, so that nobody else finds it there.
bool claim_taken(item&) noexcept;
bool is_done(const item&) noexcept;
bool is_cancelled(const item&) noexcept;
/// Neither started nor ended: it may still be claimed or cancelled.
bool is_unstarted(const item&) noexcept;

/// The item has ended: wakes who waits, fires what continues it. Callable and kept objects must be gone. The
/// caller's last access to the item, unless it holds the future. `from_queue`: the caller took it out of its
/// queue, and so lets go of it for the queue too.
void publish(item&, bool from_queue) noexcept;

/// The queue lets go of an item that somebody else ended or runs.
void release_from_queue(item&) noexcept;

/// Ends an unstarted item as `cancelled`, by `who` ("its future", …). False if it had started or ended.
bool cancel_as_asked(item&, const char* who);
/// Ends an unstarted item as `deadline_exceeded`.
bool cancel_as_late(item&);
/// Whether its deadline has passed.
bool is_late(const item&);

/// Destroys the callable and the kept objects, in the device thread.
void destroy_captures(item&) noexcept;

/// Says that the caller is going to sleep on the word until the item ends, and returns the word to sleep on.
std::uint64_t announce_wait(item&) noexcept;

/// For the device thread that waits for the item: the same, for a sleep that `nudge` ends too. What was
/// nudged before is forgotten, so the caller looks around after this and before it sleeps.
std::uint64_t announce_served_wait(item&) noexcept;
void nudge(item&) noexcept;

}  // namespace heddle::detail
