// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstdint>

#include "stream.hpp"

namespace fake {

/// Never freed, see stream.hpp.
struct event {
  event(device& owner, unsigned event_flags) : dev(owner), flags(event_flags) {}

  std::atomic<std::uint32_t> magic{live_event};
  device& dev;
  const unsigned flags;
  // Release and acquire: another thread may ask about it, and has to see the mark whole.
  std::atomic<mark*> last{nullptr};            // null: never recorded
  std::atomic<capture*> captured_in{nullptr};  // recorded into a graph, not into the stream
  stream* captured_on = nullptr;               // the stream, and how much it had recorded
  std::size_t captured_at = 0;
};

event* event_of(cudaEvent_t handle);
/// What cudaEventQuery answers.
cudaError_t state_of(cudaEvent_t handle);

}  // namespace fake
