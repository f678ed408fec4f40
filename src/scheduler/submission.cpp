// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/submission.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "device/continuations.hpp"
#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "heddle/error.hpp"
#include "pure/admission.hpp"
#include "pure/placement.hpp"
#include "scheduler/route_access.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"
#include "work/prefetch.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

namespace {

std::shared_ptr<scheduler_core> core_of(std::uint64_t serial, const char* call) {
  refuse_in_forked_child(call);  // before the registry's lock
  // Inside the scheduler's own items it lives, and need not be shared for the time of the call.
  for (const binding* each = current().top; each != nullptr; each = each->previous) {
    if (each->kind != binding_kind::guard && each->device->group_serial == serial) {
      return {std::shared_ptr<void>(), each->device->group->core};
    }
  }
  auto core = find_core(serial);
  if (!core)
    throw scheduler_stopped("the scheduler of this item no longer exists: continue items while it lives");
  return core;
}

// What fails before items are handed over ends all of them.
template <class Steps>
void or_discard(std::span<item* const> items, Steps steps) {
  try {
    steps();
  } catch (...) {
    for (item* const it : items) discard(*it);
    throw;
  }
}

}  // namespace

void discard(item& it) noexcept {
  if (it.extras) it.extras->on_stop.reset();
  destroy_captures(it);
  it.error_taken = true;
  publish(it, true);
}

submission::submission(scheduler_core& core, const route& r, std::size_t count, when_refused refused)
    : core_(std::shared_ptr<void>(), &core), route_(&r) {
  refuse_in_forked_child("submit");
  if (!route_access::is_plain(r)) resolve(r);
  const auto admitted = core.group.books.try_admit(count);
  admitted_ = admitted.count;
  ticket_ = admitted.first_ticket;
  if (admitted_ == 0) admit(count, refused);
}

submission::submission(const item& parent, const route* r)
    : core_(core_of(parent.group_serial, "then")), route_(r) {
  device_ = same_device;
  reason_ = static_cast<std::uint8_t>(route_reason::follows);
  if (r != nullptr) resolve(*r);
  admit_waiting();  // last: what throws above leaves nothing counted
}

submission::submission(std::uint64_t group_serial, int place)
    : core_(core_of(group_serial, "co_await")), device_(place) {
  reason_ = static_cast<std::uint8_t>(route_reason::pinned);
  admit_waiting();
}

submission::submission(scheduler_core& core, const route& r, along)
    : core_(std::shared_ptr<void>(), &core), route_(&r) {
  resolve(r);
  ticket_ = core.group.books.admit_along(1);
  admitted_ = 1;
}

void submission::admit_waiting() {
  const auto admitted = core_->group.books.admit_waiting(core_->called_from_inside());
  if (admitted.count == 0) {
    core_->group.books.refuse();
    throw scheduler_stopped("the scheduler is closed: attach continuations before close(), or inside items");
  }
  admitted_ = 1;
  ticket_ = admitted.first_ticket;
  waiting_ = true;
}

void submission::give_back() noexcept { core_->group.books.take_back(admitted_, waiting_); }

void submission::resolve(const route& r) {
  const route_access::view asked(r);
  auto& group = core_->group;
  device_ = -1;
  reason_ = static_cast<std::uint8_t>(route_reason::any);
  if (asked.kind == route_access::kind::device) {
    device_ = core_->at(asked.id).identity().index;
    reason_ = static_cast<std::uint8_t>(route_reason::pinned);
  }
  const int streams = group.threads.front()->streams();
  if (asked.stream && asked.in_arena) {
    throw invalid_option(
        "a route with a stream and in_arena: arena items have no stream; leave one of the two out");
  }
  if (asked.stream && (*asked.stream < 0 || *asked.stream >= streams)) {
    throw invalid_option("route.stream(" + std::to_string(*asked.stream) + "): devices have streams 0 to " +
                         std::to_string(streams - 1) +
                         "; scheduler_options::streams_per_device sets how many");
  }
  stream_ = asked.stream.value_or(-1);
  if (asked.kind == route_access::kind::key) {
    const std::vector<std::uint8_t> usable(group.threads.size(), 1);
    const std::size_t home = *home_of_key(asked.key, usable);
    std::size_t least = group.threads[home]->queued();
    if (asked.spill) {
      for (const auto& each : group.threads) least = std::min(least, each->queued());
    }
    const auto window_size = group.threads.front()->window_size();
    if (asked.spill && spills(group.threads[home]->queued(), least, window_size)) {
      reason_ = static_cast<std::uint8_t>(route_reason::spilled);
      return;
    }
    reason_ = static_cast<std::uint8_t>(route_reason::keyed);
    device_ = static_cast<int>(home);
    if (stream_ < 0 && !asked.in_arena)
      stream_ = static_cast<int>(asked.key % static_cast<std::uint64_t>(streams));
  }
}

void submission::admit(std::size_t count, when_refused refused) {
  auto& books = core_->group.books;
  const bool declines = refused == when_refused::declines;
  const bool on_own_threads = on_own_device_thread() || on_arena_thread();
  const auto admitted = books.admit(count, core_->called_from_inside(), declines || on_own_threads);
  admitted_ = admitted.count;
  ticket_ = admitted.first_ticket;
  if (admitted_ > 0) return;
  books.refuse();
  if (declines) return;
  if (admitted.why == ledger::refusal::stopped) {
    throw scheduler_stopped(
        "the scheduler is closed and takes no more items: submit before close(), or make a new one");
  }
  throw queue_full(
      "the queue is full: queue_capacity allows for " + std::to_string(books.capacity()) +
      " unstarted items" +
      (books.policy() == when_full::wait
           ? ", and waiting for room inside an item could deadlock: submit less at once inside items, or "
             "raise the capacity"
           : "; submit later, raise the capacity, or let submitters wait (when_full::wait)"));
}

void submission::prepare(item& it) {
  prepare(it, this_cpu());
  current().last_ticket = it.ticket;
}

void submission::prepare(item& it, std::int16_t cpu) {
  auto& group = core_->group;
  it.group = &group;
  it.group_serial = static_cast<std::uint32_t>(group.serial);
  it.ticket = ticket_++;
  it.cpu.store(cpu, std::memory_order_relaxed);
  it.device = device_;
  it.stream = static_cast<std::int16_t>(stream_);
  it.reason = reason_;
  if (group.record_times || (route_ != nullptr && !route_access::is_plain(*route_))) prepare_terms(it);
}

void submission::prepare_terms(item& it) {
  if (core_->group.record_times) extras_of(it).times.emplace().queued = std::chrono::steady_clock::now();
  if (route_ == nullptr) return;
  const route_access::view asked(*route_);
  it.priority = asked.priority;
  it.host_only = asked.host_only;
  it.in_arena = asked.in_arena;
  if (!asked.label.empty()) extras_of(it).label = asked.label;
  if (asked.deadline) extras_of(it).deadline = asked.deadline;
  if (asked.stop.stop_possible()) {
    auto& extras = extras_of(it);
    extras.stop = asked.stop;
    // Last, since it may call at once.
    extras.on_stop.emplace(
        asked.stop, std::function<void()>([&it] { cancel_as_asked(it, "the stop token of its route"); }));
  }
}

void submission::start(item& it) {
  try {
    prepare(it);
  } catch (...) {
    discard(it);
    throw;
  }
  // Arrivals are looked at from the newest to the oldest.
  it.ahead = lines_between(it, current().submitted.replace(&it));
  --admitted_;
  if (waiting_) core_->group.books.queue_waiting();
  core_->group.dispatch(it);
}

void submission::prepare_apart(item& it) {
  item* const one = &it;
  prepare_all(std::span<item* const>(&one, 1));
  route_ = nullptr;         // it may be gone when the item starts
  it.device = same_device;  // who waits for it inside an item must not take it yet; see wait_graph.cpp
}

void submission::start_prepared(item& it) noexcept {
  --admitted_;
  std::atomic_ref(it.device).store(device_, std::memory_order_relaxed);
  core_->group.dispatch(it);
}

void submission::start(std::span<item* const> items) {
  std::unique_ptr<item_run> run;
  or_discard(items, [&] {
    run = std::make_unique<item_run>();
    const std::int16_t cpu = this_cpu();
    for (item* const it : items) {
      prepare(*it, cpu);
      run->add(*it);
    }
  });
  current().last_ticket = ticket_ - 1;
  admitted_ -= items.size();
  core_->group.dispatch(std::move(run));
}

void submission::prepare_all(std::span<item* const> items) {
  or_discard(items, [&] {
    for (item* const it : items) prepare(*it);
  });
}

void submission::prepare_follower(item& follower) { prepare(follower); }

void submission::start_everywhere(std::span<item* const> by_place) {
  auto& group = core_->group;
  or_discard(by_place, [&] {
    if (route_ == nullptr || route_access::view(*route_).kind == route_access::kind::any) return;
    throw invalid_option(
        "broadcast by route::on or route::key: it goes to every device; use submit for one of them");
  });
  const std::lock_guard lock(core_->broadcast_mutex);  // their tickets come in the order of their queues
  // The first one's ticket may be another item's now, which means nothing: they go to different devices.
  ticket_ = group.books.admit_along(by_place.size() - 1) - 1;
  admitted_ = by_place.size();
  prepare_all(by_place);
  admitted_ = 0;
  for (std::size_t k = 0; k < by_place.size(); ++k) {
    by_place[k]->device = static_cast<int>(k);
    group.dispatch(*by_place[k]);
  }
}

void submission::follow(item& parent, item& follower, bool on_stream) {
  try {
    prepare(follower);
  } catch (...) {
    discard(follower);
    throw;
  }
  follower.waits_for = &parent;
  admitted_ = 0;
  if (on_stream && attach_to_stream(parent, follower)) return;
  if (attach(parent, follower)) return;
  queue_follower(follower, parent.ran_on);
}

}  // namespace heddle::detail
