// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "heddle/options.hpp"

namespace heddle::detail {

/// How many items a device holds in flight: `streams` * `per_stream`, at least 1.
std::size_t window(std::size_t streams, std::size_t per_stream) noexcept;

/// Whether a device with `in_flight` items takes one more.
bool may_take(std::size_t in_flight, std::size_t window_size) noexcept;

/// How many more items the queue takes; 0 if it holds `capacity` or more.
std::size_t room(std::size_t unstarted, std::size_t capacity) noexcept;

/// What a submitter meets.
enum class admission {
  admit,   ///< min(asked, room) items enter now; if that is fewer than asked, ask again with the rest
  wait,    ///< block until there is room, then ask again
  refuse,  ///< `queue_full`; nothing of this request entered
};

/// Whether `asked` items may join `unstarted` queued ones.
///
/// A submitter that may wait fills whatever room there is, so that a batch larger than the capacity goes in
/// by pieces instead of never. One that may not wait (policy `reject`, or `on_device_thread`: the caller is a
/// device thread or an arena thread, whose own progress makes the room) gets all or nothing, so that no batch
/// is left half submitted; there a batch larger than the capacity is always refused.
admission admit(std::size_t unstarted, std::size_t asked, std::size_t capacity, when_full policy,
                bool on_device_thread) noexcept;

}  // namespace heddle::detail
