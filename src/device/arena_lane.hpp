// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/task_arena.h>

#include <mutex>

#include "device/ready_queue.hpp"

namespace heddle::detail {

class device_group;
class device_thread;

/// CPU work on the threads of one device's arena: at most `limit` items at a time, so that a slot is left for
/// the loops of the device thread.
class arena_lane {
 public:
  arena_lane(device_thread& device, device_group& group, tbb::task_arena& arena, int limit)
      : device_(device), group_(group), arena_(arena), limit_(limit) {}

  /// Items pinned to this device. Push here, then `offer`.
  ready_queue waiting;

  /// There may be work, here or in the shared lane: starts a worker if one more may run. Any thread; false if
  /// all are running.
  bool offer() noexcept;

  /// Whether no worker of the lane runs or is on its way. Any thread.
  bool idle() noexcept;

  /// Waits until no worker of the lane runs or is on its way, which holds soon once nothing is pending: the
  /// arena may not end with a worker that still refers to it.
  void wait_until_idle() noexcept;

 private:
  void work() noexcept;
  item* take();

  device_thread& device_;
  device_group& group_;
  tbb::task_arena& arena_;
  const int limit_;
  std::mutex mutex_;
  int running_ = 0;           // guarded by mutex_
  std::uint64_t starts_ = 0;  // guarded by waiting.mutex
};

}  // namespace heddle::detail
