// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heddle/device_info.hpp"
#include "heddle/error.hpp"

namespace heddle {

class device_context;

/// When the work that an item puts on a host device's stream runs.
enum class host_mode {
  immediate,  ///< at the call
  deferred,   ///< only after the callable returned, or when someone waits; streams take turns by `seed`.
              ///< Exposes code that reads results without waiting for them.
};

struct host_options {
  int devices = 0;               ///< 0: one per NUMA node, at least two
  std::size_t memory_bytes = 0;  ///< cap of each device's memory; 0: no cap
  host_mode mode = host_mode::immediate;
  std::uint64_t seed = 0;  ///< order in which deferred streams take turns
};

/// What a submitter meets when `queue_capacity` unstarted items are queued. One that was cancelled or came
/// too late counts until its device has come by and destroyed its callable: the capacity bounds memory.
enum class when_full {
  wait,    ///< blocks until there is room; inside an item, where that could deadlock, throws `queue_full`
  reject,  ///< throws `queue_full`
};

/// What a device that cannot be started means.
enum class on_start_failure {
  strict,   ///< the scheduler's constructor throws; devices that started are stopped first
  lenient,  ///< the scheduler goes on with the others, lists it in `failed()` and tells `on_error`
};

/// How a scheduler is set up. Every member has a default; 0 means: the default that docs/design.md explains.
struct scheduler_options {
  backend use = backend::automatic;       ///< HEDDLE_BACKEND = automatic | cuda | host
  std::vector<std::string> devices = {};  ///< HEDDLE_DEVICES, comma separated: "0", "host:1", a uuid;
                                          ///< empty: all visible, in the backend's order
  std::vector<int> ids = {};              ///< HEDDLE_IDS: gpu ids, one per device; empty: 0, 1, 2, …
  host_options host = {};                 ///< HEDDLE_HOST_DEVICES, _MEMORY ("512M"), _MODE, _SEED
  int arena_threads = 0;                  ///< HEDDLE_ARENA_THREADS: slots of each arena, at least 3
  int streams_per_device = 0;             ///< HEDDLE_STREAMS, 1 to 64
  int window_per_stream = 0;              ///< HEDDLE_WINDOW: items in flight per stream, 1 to 1024
  std::size_t queue_capacity = std::size_t{1} << 16;  ///< HEDDLE_QUEUE_CAPACITY: unstarted items, at least 1
  when_full full = when_full::wait;                   ///< HEDDLE_WHEN_FULL = wait | reject
  on_start_failure at_start = on_start_failure::strict;  ///< HEDDLE_AT_START = strict | lenient
  bool record_times = false;                           ///< HEDDLE_TIMES = 0 | 1: `future::times()` is filled
  std::function<void(device_context&)> on_start = {};  ///< runs once on each device thread before any item
  std::function<void(const error_event&)> on_error =
      {};  ///< what no future carries; one call at a time, from any
           ///< thread; must not block, so submit by try_submit only;
           ///< default: a line on standard error

  /// The defaults, overridden by the HEDDLE_… variables named above. Any thread. Throws `invalid_option`,
  /// which names the variable, its value and what it takes.
  static scheduler_options from_environment();
};

}  // namespace heddle
