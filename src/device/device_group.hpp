// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "device/ready_queue.hpp"
#include "device/sleepers.hpp"
#include "driver/driver.hpp"
#include "heddle/options.hpp"
#include "observe/error_sink.hpp"
#include "work/ledger.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

class device_thread;
class scheduler_core;

/// The devices of one scheduler and what they share.
class device_group {
 public:
  device_group(const scheduler_options& options, std::shared_ptr<driver> seam,
               std::shared_ptr<error_sink> sink);
  ~device_group();

  /// Hands an admitted item to whom its route names; `item::device` is -1 for any device. Any thread; never
  /// blocks.
  void dispatch(item& it) noexcept;
  /// The same for several at once.
  void dispatch(std::unique_ptr<item_run>) noexcept;
  /// Ends all unstarted items as cancelled, and asks those that run to stop.
  void cancel_all();
  /// Wakes each device that sleeps.
  void poke_all() noexcept;
  /// Asks items with this ticket to stop: by now, or once `cancel_all` is called.
  std::stop_token stop_token(std::uint64_t ticket);
  /// Wakes up to `items` devices that sleep, for items that any device may take: as long as fewer than
  /// `enough` are on their way.
  void wake_for_shared(std::size_t items, int enough = spin_permit::cores_or_one()) noexcept {
    if (resting.any()) wake_resting(items, enough);
  }

  const std::uint64_t serial;
  scheduler_core* core = nullptr;      // whose group it is; for the layer above
  std::weak_ptr<const void> alive;     // the same, for whoever is in it while the scheduler may end
  const std::shared_ptr<driver> seam;  // shared with memory that outlives the scheduler
  const std::shared_ptr<error_sink> sink;
  ledger books;
  const bool record_times;
  const std::function<void(device_context&)> on_start;
  std::latch started;                                   // counts the devices that have started, or failed to
  std::vector<std::unique_ptr<device_thread>> threads;  // fixed once `complete`
  std::atomic<bool> complete{false};  // publishes `threads` to device threads that have not met an item yet

  ready_queue shared;                     // items that any device may take
  ready_queue shared_arena;               // the same for arena items
  alignas(64) sleepers resting;           // device threads that sleep, or are about to
  std::vector<device_thread*> by_number;  // in the driver; fixed before the first item
  std::atomic<bool> stopping{false};  // publishes nothing: device threads leave once their queues are empty
  alignas(64) std::atomic<std::uint64_t> cancel_before{0};  // items with older tickets do not start any more

 private:
  void dispatch(continuation& arrival, const item& first, std::size_t count) noexcept;
  void dispatch_to_arena(continuation& arrival, int device, std::size_t count) noexcept;
  void wake_resting(std::size_t items, int enough) noexcept;
  void tell_priority(int device) noexcept;
  void cancel_queue(ready_queue&);
  void cancel_taken(item&);

  std::atomic<std::uint32_t> next_lane_{0};  // rotates over the devices
  std::mutex stop_mutex_;
  std::stop_source stop_;  // guarded by stop_mutex_; of items younger than cancel_before
};

}  // namespace heddle::detail
