// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/global_control.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <vector>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "heddle/options.hpp"
#include "heddle/scheduler.hpp"
#include "scheduler/loop_history.hpp"
#include "scheduler/steps.hpp"

namespace heddle::detail {

/// What a scheduler is made of. Shared, so that a call on a future can keep it alive while it uses it.
class scheduler_core {
 public:
  explicit scheduler_core(const scheduler_options& options);
  ~scheduler_core();

  device_group group;
  std::vector<device_info> devices;  // fixed once made
  std::vector<failed_device> failed;
  int cores = 1;               // that the process may use
  loop_history history;        // of the loops over its devices
  step_order steps{*this};     // on arrays
  std::mutex broadcast_mutex;  // broadcasts reach every device in one order

  /// The device with this gpu id. Throws `invalid_option`.
  device_thread& at(int id);
  /// Throws `would_deadlock` if the caller is one of this scheduler's own threads.
  void refuse_inside(const char* call) const;
  bool called_from_inside() const noexcept;
  /// close + drain + stop; idempotent.
  void join();

 private:
  scheduler_core(const scheduler_options& options, const std::shared_ptr<error_sink>& sink);
  void start(const scheduler_options& options);
  void stop() noexcept;

  std::optional<tbb::global_control> worker_limit_;
  std::mutex join_mutex_;
  bool joined_ = false;  // guarded by join_mutex_
};

/// The scheduler with this serial number; null once it has been destroyed.
std::shared_ptr<scheduler_core> find_core(std::uint64_t serial);
void register_core(const std::shared_ptr<scheduler_core>&);
void unregister_core(std::uint64_t serial) noexcept;

/// The driver that the options ask for, over the devices that they select.
std::shared_ptr<driver> make_driver(const scheduler_options&, std::weak_ptr<error_sink>);

}  // namespace heddle::detail
