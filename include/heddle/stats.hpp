// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace heddle {

/// What one device has done so far. Counts only grow.
struct device_stats {
  int id = 0;                   ///< gpu id
  bool enabled = true;          ///< takes items of the shared queue
  std::uint64_t started = 0;    ///< items whose callable was entered, arena items among them
  std::uint64_t ended = 0;      ///< items that ended as a value or an error, after they started
  std::uint64_t failed = 0;     ///< of these, as an error
  std::uint64_t dropped = 0;    ///< items that ended unstarted here: cancelled or past their deadline
  std::uint64_t queued = 0;     ///< items pinned to it that wait now
  std::uint64_t in_flight = 0;  ///< items that started and have not ended now
  std::chrono::nanoseconds busy{
      0};  ///< time its own thread had work or items in flight; arena items not counted
};

/// A snapshot: each number is right for a moment of the call, not all of them for the same moment.
struct scheduler_stats {
  std::vector<device_stats> devices;  ///< in the order of `scheduler::devices()`
  /// Unstarted items, wherever they wait; a submitter that begins to wait for room is one for an instant.
  std::uint64_t queued = 0;
  std::uint64_t pending = 0;  ///< items that have not ended, continuations that wait among them
  std::uint64_t refused = 0;  ///< submissions refused: stopped or queue full
};

}  // namespace heddle
