// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <atomic>

#include "driver/driver.hpp"
#include "work/current.hpp"

namespace heddle::detail {

/// Binds each thread that enters the arena of a device to that device, for as long as it stays. TBB's workers
/// migrate between arenas, so what a thread was bound to before is restored when it leaves.
class arena_observer final : public tbb::task_scheduler_observer {
 public:
  arena_observer(tbb::task_arena& arena, const bound_device& device, driver& seam, int driver_device);
  ~arena_observer() override;

  void on_scheduler_entry(bool is_worker) override;
  void on_scheduler_exit(bool is_worker) override;

  /// Whether threads other than the device's own are in the arena. Any thread.
  bool visited() const noexcept {
    return inside_.load(std::memory_order_relaxed) > own_.load(std::memory_order_relaxed);
  }

  /// Gives TBB a reason to look at the arena again. Its worker sometimes (oneTBB 2021.8: after one enqueue in
  /// some thousands) stays in an arena that has no work, where it burns a core and is missing elsewhere.
  void kick() noexcept;

  /// Blocks until every thread that entered has left, then ends the observation. Switching it off at once
  /// would leave the ids of a dead scheduler on TBB's workers.
  void end() noexcept;

 private:
  tbb::task_arena& arena_;
  const bound_device& device_;
  driver& seam_;
  const int driver_device_;
  std::atomic<bool> ending_{false};  // entries bind no more; publishes nothing
  std::atomic<int> own_{0};     // how many of these are the device's own thread: 0 or 1; publishes nothing
  std::atomic<int> kicks_{0};   // that have not run; publishes, at 0, that none refers to this any more
  std::atomic<int> inside_{0};  // publishes, at 0, that no thread refers to device_ any more
};

}  // namespace heddle::detail
