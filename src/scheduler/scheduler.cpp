// SPDX-License-Identifier: Apache-2.0
#include "heddle/scheduler.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "config/unknown_variables.hpp"
#include "config/validate.hpp"
#include "device/wait_graph.hpp"
#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace {

// A variable without effect looks like one that works.
void tell_misspelt_variables(detail::error_sink& sink) {
  static std::atomic<bool> told{false};  // publishes nothing
  for (const auto& each : detail::unknown_variables(environ)) {
    if (each.closest.empty() || told.load(std::memory_order_relaxed)) continue;
    const std::string message = each.name + " is set, and heddle reads no such variable: did you mean " +
                                each.closest + "? `heddle doctor` tells of all";
    sink.report({std::make_exception_ptr(invalid_option(message)), std::nullopt, "", message});
    told.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

scheduler::scheduler(std::source_location where) : scheduler(scheduler_options::from_environment(), where) {
  tell_misspelt_variables(*core_->group.sink);
}

scheduler::scheduler(scheduler_options options, std::source_location where) {
  detail::refuse_in_forked_child("scheduler");
  detail::validate(options);
  detail::remember_this_process(where);
  core_ = std::make_shared<detail::scheduler_core>(options);
  detail::register_core(core_);
}

scheduler::~scheduler() {
  if (detail::is_forked_child()) {
    new auto(std::move(core_));  // its threads do not exist here; nothing of it may be touched
    return;
  }
  if (!core_) return;
  std::string message =
      "a scheduler was destroyed inside one of its own items; another thread ends it once its items have "
      "ended: keep "
      "the scheduler alive until join() has returned outside of items";
  if (!core_->called_from_inside()) {
    try {
      core_->join();
      return;
    } catch (const would_deadlock& e) {
      message = "a scheduler was destroyed, and another thread ends it once its items have ended: " +
                std::string(e.what());
    }
  }
  core_->group.sink->report({std::make_exception_ptr(would_deadlock(message)), std::nullopt, "", message});
  core_->group.books.close();
  std::thread([core = std::move(core_)] { core->join(); }).detach();
}

detail::scheduler_core& scheduler::core() const {
  detail::refuse_in_forked_child("scheduler");
  return *core_;
}

std::span<const device_info> scheduler::devices() const { return core().devices; }
std::span<const failed_device> scheduler::failed() const { return core().failed; }

void scheduler::close() { core().group.books.close(); }

void scheduler::drain() { drain_until(std::chrono::steady_clock::time_point::max()); }

bool scheduler::drain_until(std::chrono::steady_clock::time_point limit) {
  core().refuse_inside("scheduler::drain");
  return detail::wait_graph::end_wait(core().group, limit != std::chrono::steady_clock::time_point::max())
      .until(limit);
}

void scheduler::cancel() { core().group.cancel_all(); }

void scheduler::join() { core().join(); }

void scheduler::enable(int id) { core().at(id).enable(true); }

void scheduler::disable(int id) {
  auto& self = core();
  auto& thread = self.at(id);
  const std::lock_guard lock(self.broadcast_mutex);
  const auto& all = self.group.threads;
  const bool another = std::any_of(
      all.begin(), all.end(), [&](const auto& each) { return each.get() != &thread && each->enabled(); });
  if (!another) {
    throw invalid_option(
        "device " + std::to_string(id) +
        " is the last one enabled: items for any device could never start; enable another one first, or "
        "close the scheduler");
  }
  thread.enable(false);
  // It may have been woken for an item that it leaves lying now.
  for (const auto& each : all) {
    if (each->enabled()) each->enable(true);
  }
}

scheduler_stats scheduler::stats() const {
  scheduler_stats all;
  const auto& group = core().group;
  for (const auto& thread : group.threads) all.devices.push_back(thread->stats());
  all.queued = group.books.unstarted();
  all.pending = group.books.pending();
  all.refused = group.books.refused();
  return all;
}

}  // namespace heddle
