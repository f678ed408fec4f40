// SPDX-License-Identifier: Apache-2.0
#include "device/device_thread.hpp"

#include <pthread.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <string>
#include <utility>

#include "device/device_group.hpp"
#include "device/wait_graph.hpp"
#include "heddle/device_context.hpp"
#include "pure/admission.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto shortest_pause = std::chrono::microseconds(20);
constexpr auto longest_pause = std::chrono::microseconds(1000);
constexpr auto longest_visit = std::chrono::milliseconds(10);

std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// Slots that TBB's workers may not take: the device thread's own, and what asks for more workers than TBB
// has. It would complain of that on standard error, and threads that enter by as_device are glad of it.
unsigned reserved_slots(int slots) {
  const auto threads =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  return static_cast<unsigned>(std::max(1, slots - std::max(1, threads - 1)));
}

const wait_service serving{[](device_thread& self, item& awaited) { wait_graph::wait(self, awaited); }};

}  // namespace

device_thread::device_thread(device_group& group, device_setup setup)
    : lane(*this, group, arena_, setup.arena_slots - 2),
      group_(group),
      setup_(std::move(setup)),
      window_(window(static_cast<std::size_t>(setup_.streams),
                     static_cast<std::size_t>(setup_.window_per_stream))),
      identity_{setup_.info, 0, &group, group.serial},
      arena_(setup_.arena_slots, reserved_slots(setup_.arena_slots)),
      observer_(arena_, identity_, *group.seam, setup_.driver_device),
      streams_(static_cast<std::size_t>(setup_.streams)),
      depths_(static_cast<std::size_t>(setup_.streams)) {}

device_thread::~device_thread() = default;

std::future<void> device_thread::start() {
  std::promise<void> ready;
  auto started = ready.get_future();
  thread_ = std::thread([this, ready = std::move(ready)]() mutable { main(std::move(ready)); });
  return started;
}

void device_thread::join() noexcept {
  if (thread_.joinable()) thread_.join();
  lane.wait_until_idle();
  observer_.end();
}

void device_thread::main(std::promise<void> ready) {
  ::pthread_setname_np(
      ::pthread_self(),
      ("heddle/" + std::to_string(setup_.info.id)).substr(0, 15).c_str());  // the kernel's limit
  bool bound = false;
  try {
    group_.seam->bind(setup_.driver_device, setup_.streams);
    bound = true;
    auto& state = current();
    state.own = this;
    state.own_device = &identity_;
    state.waiting = &serving;
    arena_.execute([&] {  // once, for life: the reserved slot
      run_on_start();
      ready.set_value();
      loop();
      while (!locals.empty()) locals.pop_back();
    });
  } catch (...) {
    locals.clear();
    ready.set_exception(std::current_exception());
  }
  current() = {};
  if (bound) group_.seam->unbind(setup_.driver_device);
}

void device_thread::run_on_start() {
  if (!group_.on_start) return;
  auto call_it = [this](device_context& context) { group_.on_start(context); };
  auto* const it = new typed_item<void, decltype(call_it)>(std::move(call_it));
  item_frame frame{*it, *this, group_, 0};
  top_ = &frame;
  call(frame);
  top_ = nullptr;
  repair_current(frame);
  const std::uint64_t mark = group_.seam->record(stream(0), mark_kind::end_of_item);
  std::optional<std::exception_ptr> failure;
  while (!(failure = group_.seam->query(stream(0), mark))) group_.seam->advance(setup_.driver_device);
  destroy_captures(*it);
  const std::exception_ptr error = it->error ? it->error : *failure;
  it->operations->destroy(*it);
  if (error) std::rethrow_exception(error);
}

void device_thread::loop() {
  busy_since_ns_.store(now_ns(), std::memory_order_relaxed);
  auto delay = shortest_pause;
  for (;;) {
    const bool progressed = poll();
    if (item* const it = may_take(flights_, window_) ? take() : nullptr) {
      run(*it, true);
      delay = shortest_pause;
    } else if (progressed) {
      delay = shortest_pause;
    } else if (flights_ > 0) {
      pause(delay);
    } else if (group_.stopping.load(std::memory_order_seq_cst)) {
      return;
    } else {
      idle();
    }
  }
}

item* device_thread::take() {
  for (;;) {
    item* taken = nullptr;
    bool own = true;
    {
      const std::lock_guard lock(queue.mutex);
      heads_.clear();
      queue.heads(heads_);
      const std::size_t own_heads = heads_.size();
      std::unique_lock shared_lock(group_.shared.mutex, std::defer_lock);
      if (group_.shared.maybe_nonempty() && enabled()) {
        shared_lock.lock();
        group_.shared.heads(heads_);
      }
      const auto chosen = pick(heads_, starts_);
      if (!chosen) return nullptr;
      ++starts_;
      own = *chosen < own_heads;
      taken = own ? &queue.take(*chosen) : &group_.shared.take(*chosen - own_heads);
    }
    if (own) pinned_.fetch_sub(1, std::memory_order_relaxed);
    // Whoever was woken for a shared item may take another one first, and be long about it.
    if (group_.shared.maybe_nonempty()) group_.wake_for_shared(1);
    if (begin(*taken)) return taken;
  }
}

void device_thread::idle() {
  for (int k = 0; k < setup_.spin_rounds; ++k) {
    if (queue.maybe_nonempty() || group_.shared.maybe_nonempty()) return;
    relax();
  }
  const std::int64_t idle_since = now_ns();
  busy_ns_.fetch_add(idle_since - busy_since_ns_.exchange(0, std::memory_order_relaxed),
                     std::memory_order_relaxed);
  group_.parked.fetch_add(1, std::memory_order_seq_cst);
  if (queue.arrivals.try_park()) {
    const bool work = queue.size() != 0 || (enabled() && group_.shared.maybe_nonempty()) ||
                      group_.stopping.load(std::memory_order_seq_cst);
    if (work) {
      queue.arrivals.unpark();
    } else {
      sleep_in_inbox();
    }
  }
  group_.parked.fetch_sub(1, std::memory_order_seq_cst);
  busy_since_ns_.store(now_ns(), std::memory_order_relaxed);
}

void device_thread::sleep_in_inbox() {
  while (observer_.visited()) {  // seldom for long; see arena_observer::kick
    queue.arrivals.sleep_until(std::chrono::steady_clock::now() + longest_visit);
    if (!queue.arrivals.sleeping()) return;
    if (observer_.visited() && lane.idle()) observer_.kick();
  }
  queue.arrivals.sleep();
}

void device_thread::pause(std::chrono::microseconds& delay) {
  if (!may_take(flights_, window_)) {
    std::this_thread::sleep_for(delay);  // what arrives in the inbox has to wait for a mark in any case
  } else {
    group_.parked.fetch_add(1, std::memory_order_seq_cst);
    if (queue.arrivals.try_park()) {
      queue.arrivals.sleep_until(std::chrono::steady_clock::now() + delay);
      queue.arrivals.unpark();
    }
    group_.parked.fetch_sub(1, std::memory_order_seq_cst);
  }
  delay = std::min(delay * 2, longest_pause);
}

bool device_thread::begin(item& it) {
  if (it.ticket < group_.cancel_before.load(std::memory_order_acquire) && is_unstarted(it)) {
    cancel_as_asked(it, "scheduler::cancel");
  }
  if (is_late(it) && is_unstarted(it)) cancel_as_late(it);
  if (!claim(it)) {
    dispose(it);
    return false;
  }
  begin_claimed(it);
  return true;
}

void device_thread::begin_claimed(item& it) noexcept {
  wait_graph::after_claim(it);
  group_.books.start(1);
  started_.fetch_add(1, std::memory_order_relaxed);
  it.ran_on = identity_.index;
  it.ran_on_id = identity_.info.id;
  if (it.extras) {
    it.extras->on_stop.reset();
    if (it.extras->times) it.extras->times->started = std::chrono::steady_clock::now();
  }
}

void device_thread::dispose(item& it) noexcept {
  if (!is_cancelled(it)) {  // a thread that waits inside an item has taken it
    release_from_queue(it);
    return;
  }
  wait_graph::after_claim(it);
  if (it.extras) it.extras->on_stop.reset();
  destroy_captures(it);
  dropped_.fetch_add(1, std::memory_order_relaxed);
  release_from_queue(it);
  group_.books.start(1);
  group_.books.leave(1);
}

void device_thread::call(item_frame& frame) noexcept {
  item& it = frame.running;
  device_context context(frame);
  // Isolated: this thread, waiting in an inner loop of the callable, must not run a foreign body in the
  // middle of it.
  tbb::this_task_arena::isolate([&] {
    try {
      it.operations->run(it, context);
    } catch (...) {
      it.error = std::current_exception();
    }
  });
}

void device_thread::finish(item& it, bool from_queue) noexcept {
  destroy_captures(it);
  ended_.fetch_add(1, std::memory_order_relaxed);
  if (it.error) failed_.fetch_add(1, std::memory_order_relaxed);
  if (it.extras && it.extras->times) it.extras->times->done = std::chrono::steady_clock::now();
  publish(it, from_queue);
  group_.books.leave(1);
}

void device_thread::serve_until_ended(item& awaited) { wait_graph::wait(*this, awaited); }

std::uint64_t device_thread::held_streams() const noexcept {
  std::uint64_t held = 0;
  for (const item_frame* frame = top_; frame != nullptr; frame = frame->below) {
    if (frame->running.stream >= 0) held |= std::uint64_t{1} << frame->running.stream;
  }
  return held;
}

void device_thread::enable(bool on) noexcept {
  enabled_.store(on, std::memory_order_seq_cst);
  if (!on) return;
  queue.arrivals.poke();
  lane.offer();
}

device_stats device_thread::stats() const {
  device_stats all;
  all.id = identity_.info.id;
  all.enabled = enabled();
  all.ended = ended_.load(std::memory_order_relaxed);
  all.started = std::max(started_.load(std::memory_order_relaxed), all.ended);
  all.failed = failed_.load(std::memory_order_relaxed);
  all.dropped = dropped_.load(std::memory_order_relaxed);
  all.queued = pinned_.load(std::memory_order_relaxed);
  all.in_flight = all.started - all.ended;
  const std::int64_t since = busy_since_ns_.load(std::memory_order_relaxed);
  all.busy = std::chrono::nanoseconds(busy_ns_.load(std::memory_order_relaxed) +
                                      (since != 0 ? now_ns() - since : 0));
  return all;
}

}  // namespace heddle::detail
