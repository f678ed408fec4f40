// SPDX-License-Identifier: Apache-2.0
#include "device/device_group.hpp"

#include <utility>

#include "device/device_thread.hpp"
#include "device/wait_graph.hpp"
#include "work/current.hpp"
#include "work/item.hpp"

namespace heddle::detail {

namespace {
std::atomic<std::uint64_t> next_serial{1};  // publishes nothing: a name
}

device_group::device_group(const scheduler_options& options, std::shared_ptr<driver> a_seam,
                           std::shared_ptr<error_sink> a_sink)
    : serial(next_serial.fetch_add(1, std::memory_order_relaxed)),
      seam(std::move(a_seam)),
      sink(std::move(a_sink)),
      books(options.queue_capacity, options.full),
      record_times(options.record_times),
      on_start(options.on_start),
      started(seam->device_count()),
      resting(static_cast<std::size_t>(seam->device_count())) {}

device_group::~device_group() = default;

void device_group::dispatch(item& it) noexcept { dispatch(it, it, 1); }

void device_group::dispatch(std::unique_ptr<item_run> run) noexcept {
  item_run& all = *run.release();  // who sorts it frees it
  dispatch(all, *all.items.head, all.count);
}

// `count` items that go where the first one of them goes.
void device_group::dispatch(continuation& arrival, const item& first, std::size_t count) noexcept {
  // Nothing of the items is read once they are pushed: they may have ended.
  const int device = first.device;
  const int priority = first.priority;
  if (first.in_arena) return dispatch_to_arena(arrival, device, count);
  if (device >= 0) {
    auto& thread = *threads[static_cast<std::size_t>(device)];
    thread.count_pinned(count);
    const bool asleep = thread.queue.arrivals.push(arrival);
    if (priority > 0) tell_priority(device);
    if (asleep) {
      thread.queue.arrivals.wake();
      current().woke_a_device = true;
    }
  } else {
    shared.arrivals.push(arrival);
    if (priority > 0) tell_priority(device);  // before somebody wakes for it
    wake_for_shared(count);
  }
  // A device thread that waits inside an item does not sleep in its inbox.
  wait_graph::notify();
}

void device_group::dispatch_to_arena(continuation& arrival, int device, std::size_t count) noexcept {
  auto& queue = device >= 0 ? threads[static_cast<std::size_t>(device)]->lane.waiting : shared_arena;
  queue.arrivals.push(arrival);
  if (device >= 0) {
    while (count > 0 && threads[static_cast<std::size_t>(device)]->lane.offer()) --count;
    return;
  }
  // In turns, until there are enough or no lane takes one more.
  const std::size_t first = next_lane_.fetch_add(1, std::memory_order_relaxed);
  for (bool some = true; some && count > 0;) {
    some = false;
    for (std::size_t k = 0; k < threads.size() && count > 0; ++k) {
      auto& thread = *threads[(first + k) % threads.size()];
      if (!thread.enabled() || !thread.lane.offer()) continue;
      --count;
      some = true;
    }
  }
}

void device_group::tell_priority(int device) noexcept {
  if (device >= 0) return threads[static_cast<std::size_t>(device)]->reconsider();
  for (const auto& each : threads) each->reconsider();
}

[[gnu::noinline]] void device_group::wake_resting(std::size_t items, int enough) noexcept {
  for (; items > 0; --items) {
    const auto called = resting.call(enough);
    if (!called) return;
    by_number[*called]->queue.arrivals.poke();  // or it gets up by itself
    current().woke_a_device = true;
  }
}

void device_group::poke_all() noexcept {
  for (const auto& thread : threads) thread->queue.arrivals.poke();
}

void device_group::cancel_all() {
  std::stop_source asked;
  {
    const std::lock_guard lock(stop_mutex_);
    cancel_before.store(books.next_ticket(), std::memory_order_seq_cst);
    asked = std::exchange(stop_, std::stop_source());
  }
  asked.request_stop();  // outside of the lock: it calls the callbacks of users
  const auto cancel_hands = [this] {
    for (const auto& thread : threads) {
      while (item* const it = thread->at_hand.take_any()) cancel_taken(*it);
    }
  };
  cancel_hands();  // and once more: what was in a queue may be at hand by now, or the other way round
  cancel_queue(shared);
  cancel_queue(shared_arena);
  for (const auto& thread : threads) {
    cancel_queue(thread->queue);
    cancel_queue(thread->lane.waiting);
  }
  cancel_hands();
}

void device_group::cancel_taken(item& it) {
  try {
    cancel_as_asked(it, "scheduler::cancel");
  } catch (...) {  // no memory for the error: the device tries again before it starts it
  }
  if (it.device >= 0 && !it.in_arena) {
    threads[static_cast<std::size_t>(it.device)]->count_pinned(~std::size_t{0});
  }
  dispatch(it);
}

void device_group::cancel_queue(ready_queue& queue) {
  item_list all;
  {
    const std::lock_guard lock(queue.mutex);
    all = queue.take_all();
  }
  // Out of the queue and of its lock: what continues these items may be put into the same queue. They go back
  // to it ended, since their callables die on the device thread.
  while (item* const it = all.pop()) cancel_taken(*it);
}

std::stop_token device_group::stop_token(std::uint64_t ticket) {
  const std::lock_guard lock(stop_mutex_);
  if (ticket >= cancel_before.load(std::memory_order_relaxed)) return stop_.get_token();
  std::stop_source requested;  // asked for only after the request
  requested.request_stop();
  return requested.get_token();
}

}  // namespace heddle::detail
