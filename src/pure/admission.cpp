// SPDX-License-Identifier: Apache-2.0
#include "pure/admission.hpp"

#include <algorithm>
#include <limits>

namespace heddle::detail {

std::size_t window(std::size_t streams, std::size_t per_stream) noexcept {
  streams = std::max<std::size_t>(streams, 1);
  per_stream = std::max<std::size_t>(per_stream, 1);
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  return streams > most / per_stream ? most : streams * per_stream;
}

bool may_take(std::size_t in_flight, std::size_t window_size) noexcept { return in_flight < window_size; }

std::size_t room(std::size_t unstarted, std::size_t capacity) noexcept {
  return unstarted < capacity ? capacity - unstarted : 0;
}

admission admit(std::size_t unstarted, std::size_t asked, std::size_t capacity, when_full policy,
                bool on_device_thread) noexcept {
  const std::size_t free = room(unstarted, capacity);
  if (asked <= free) return admission::admit;
  if (policy == when_full::reject || on_device_thread) return admission::refuse;
  return free > 0 ? admission::admit : admission::wait;
}

}  // namespace heddle::detail
