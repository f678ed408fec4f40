// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler_core.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "config/cpu_budget.hpp"
#include "device/wait_graph.hpp"
#include "heddle/error.hpp"
#include "pure/ids.hpp"
#include "scheduler/keep_tbb.hpp"
#include "work/current.hpp"
#include "work/fence.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t most_named = 4;  // devices, of those that failed for one reason

int or_default(int asked, int otherwise) { return asked > 0 ? asked : otherwise; }

std::string describe(const device_info& info) {
  return "device " + std::to_string(info.id) + " (" + info.name + ", " + info.uuid + ")";
}

}  // namespace

scheduler_core::scheduler_core(const scheduler_options& options)
    : scheduler_core(options, std::make_shared<error_sink>(options.on_error)) {}

scheduler_core::scheduler_core(const scheduler_options& options, const std::shared_ptr<error_sink>& sink)
    : group(options, make_driver(options, sink), sink) {
  group.core = this;
  keep_tbb_mapped();
  register_sink(group.serial, group.sink);
  try {
    start(options);
  } catch (...) {
    stop();
    unregister_sink(group.serial);
    throw;
  }
}

scheduler_core::~scheduler_core() {
  if (!joined_) stop();  // nobody joined, so nothing can be pending but what a failed start left
  unregister_core(group.serial);
  unregister_sink(group.serial);
}

void scheduler_core::start(const scheduler_options& options) {
  const int count = group.seam->device_count();
  if (count == 0)
    throw no_device("there is no device to start: check scheduler_options::devices (HEDDLE_DEVICES)");
  const auto ids = assign_ids(static_cast<std::size_t>(count), options.ids);
  cores = usable_cores();
  spin_permit::set_cores(cores);
  prepare_fences();
  if (cores < tbb::info::default_concurrency()) {
    // A quota of the container bounds TBB's workers, which count cores alone.
    worker_limit_.emplace(tbb::global_control::max_allowed_parallelism,
                          static_cast<std::size_t>(std::max(cores, 2)));
  }
  std::vector<std::exception_ptr> no_thread(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    device_setup setup;
    group.seam->set_id(k, ids[static_cast<std::size_t>(k)]);
    setup.info = group.seam->info(k);
    setup.driver_device = k;
    setup.arena_slots = or_default(options.arena_threads, std::max(3, (cores + count - 1) / count));
    setup.streams = or_default(options.streams_per_device, 4);
    setup.window_per_stream = or_default(options.window_per_stream, 4);
    auto& thread = *group.threads.emplace_back(std::make_unique<device_thread>(group, std::move(setup)));
    group.by_number.push_back(&thread);
    try {
      thread.start();
    } catch (const std::system_error& e) {
      no_thread[static_cast<std::size_t>(k)] = std::make_exception_ptr(
          device_error(thread.identity().info.id, "start of the device thread",
                       std::string(e.what()) + "; raise the process's thread limit, or use fewer devices"));
      group.started.count_down();
    }
  }
  group.started.wait();
  std::vector<std::exception_ptr> errors;  // of those in `failed`
  std::string reasons;
  std::vector<std::unique_ptr<device_thread>> running;
  running.reserve(group.threads.size());
  for (std::size_t k = 0; k < group.threads.size(); ++k) {
    auto& thread = group.threads[k];
    const auto error = no_thread[k] ? no_thread[k] : thread->start_failure();
    if (!error) {
      running.push_back(std::move(thread));
      continue;
    }
    errors.push_back(error);
    const auto& info = thread->identity().info;
    failed.push_back({info, text_of(error)});
    thread->join();
  }
  for (std::size_t k = 0; k < failed.size();) {
    const auto& first = failed[k];
    std::size_t alike = 1;
    while (k + alike < failed.size() && failed[k + alike].reason == first.reason) ++alike;
    reasons += (reasons.empty() ? "" : "; ") + describe(first.info);
    const std::size_t named = alike > most_named ? most_named : alike;
    for (std::size_t j = 1; j < named; ++j) reasons += ", " + describe(failed[k + j].info);
    if (alike > named) reasons += " and " + std::to_string(alike - named) + " more";
    reasons += ": " + first.reason;
    k += alike;
  }
  group.threads = std::move(running);
  if (!errors.empty() && (options.at_start == on_start_failure::strict || group.threads.empty())) {
    const no_device refusal("the scheduler was not made, since " + std::to_string(failed.size()) + " of " +
                            std::to_string(count) + " devices failed to start: " + reasons +
                            "; choose others with scheduler_options::devices, or go on without them with "
                            "on_start_failure::lenient");
    try {
      std::rethrow_exception(errors.front());
    } catch (...) {
      std::throw_with_nested(refusal);  // the exception of on_start itself is there for who wants it
    }
  }
  for (std::size_t k = 0; k < group.threads.size(); ++k) {
    group.threads[k]->place(static_cast<int>(k));
    devices.push_back(group.threads[k]->identity().info);
  }
  group.complete.store(true, std::memory_order_release);
  for (std::size_t k = 0; k < failed.size(); ++k) {
    const auto& info = failed[k].info;
    group.sink->report(
        {errors[k], info.id, "", describe(info) + " failed to start and is left out: " + failed[k].reason});
  }
}

device_thread& scheduler_core::at(int id) {
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (devices[k].id == id) return *group.threads[k];
  }
  std::string known;
  for (const auto& each : devices) known += (known.empty() ? "" : ", ") + std::to_string(each.id);
  throw invalid_option("no device has the id " + std::to_string(id) + "; this scheduler's ids are " + known);
}

bool scheduler_core::called_from_inside() const noexcept {
  for (const binding* each = current().top; each != nullptr; each = each->previous) {
    if (each->device->group == &group && each->kind != binding_kind::guard) return true;
  }
  return false;
}

void scheduler_core::refuse_inside(const char* call) const {
  if (!called_from_inside()) return;
  throw would_deadlock(std::string(call) +
                       " was called inside an item of the scheduler, which could never end before the "
                       "call does: call it outside, or continue with future::then");
}

void scheduler_core::join() {
  refuse_inside("scheduler::join");
  {
    wait_graph::end_wait end(group, false);  // before it is closed: this may be refused
    group.books.close();
    do {
      end.until(std::chrono::steady_clock::time_point::max());
    } while (!group.books.stop_if_idle());
  }
  stop();
}

void scheduler_core::stop() noexcept {
  const std::lock_guard lock(join_mutex_);
  if (joined_) return;
  group.stopping.store(true, std::memory_order_seq_cst);
  group.poke_all();
  for (const auto& thread : group.threads) {
    if (thread) thread->join();
  }
  worker_limit_.reset();
  joined_ = true;
}

}  // namespace heddle::detail
