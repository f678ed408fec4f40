// SPDX-License-Identifier: Apache-2.0
#include "device/device_thread.hpp"

#include <pthread.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <string>
#include <utility>

#include "device/device_group.hpp"
#include "heddle/device_context.hpp"
#include "pure/admission.hpp"
#include "work/fence.hpp"

namespace heddle::detail {

namespace {

constexpr auto shortest_pause = std::chrono::microseconds(20);

// Slots that TBB's workers may not take: the device thread's own, and what asks for more workers than TBB
// has. It would complain of that on standard error, and threads that enter by as_device are glad of it.
unsigned reserved_slots(int slots) {
  const auto threads =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  return static_cast<unsigned>(std::max(1, slots - std::max(1, threads - 1)));
}

const wait_service serving{[](device_thread& self, item& awaited) { self.serve_until_ended(awaited); }};

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
      depths_(static_cast<std::size_t>(setup_.streams)),
      own_(group.books.new_tally(tally::writers::one)),
      lane_(group.books.new_tally(tally::writers::several)) {}

device_thread::~device_thread() = default;

void device_thread::start() {
  thread_ = std::thread([this] { main(); });
}

void device_thread::join() noexcept {
  if (thread_.joinable()) thread_.join();
  lane.wait_until_idle();
  observer_.end();
}

void device_thread::main() {
  ::pthread_setname_np(
      ::pthread_self(),
      ("heddle/" + std::to_string(setup_.info.id)).substr(0, 15).c_str());  // the kernel's limit
  bool bound = false;
  bool started = false;
  try {
    group_.seam->bind(setup_.driver_device, setup_.streams);
    bound = true;
    urgent_ = group_.seam->urgent_stream(setup_.driver_device);
    auto& state = current();
    state.own = this;
    state.own_device = &identity_;
    state.waiting = &serving;
    const auto live = [&] {
      run_on_start();
      started = true;
      group_.started.count_down();
      loop();
      while (!locals.empty()) locals.pop_back();
    };
    arena_.execute([&] { tbb::this_task_arena::isolate(live); });  // once, for life: the reserved slot
  } catch (...) {
    if (started) throw;
    locals.clear();
    start_failure_ = std::current_exception();
  }
  current() = {};
  if (bound) group_.seam->unbind(setup_.driver_device);
  if (!started) group_.started.count_down();
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
  it->operations().destroy(*it);
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
      group_.books.tell_end();
      pause(delay);
    } else if (group_.stopping.load(std::memory_order_seq_cst)) {
      return;
    } else {
      idle();
    }
  }
}

std::size_t device_thread::queued() const noexcept {
  const std::uint64_t taken = pinned_taken_.load(std::memory_order_relaxed);
  const std::uint64_t came = pinned_.load(std::memory_order_relaxed);
  return came > taken ? static_cast<std::size_t>(came - taken) : 0;
}

std::uint64_t device_thread::held_streams() const noexcept {
  std::uint64_t held = 0;
  for (const item_frame* frame = top_; frame != nullptr; frame = frame->below) {
    if (frame->running.stream >= 0) held |= std::uint64_t{1} << frame->running.stream;
  }
  return held;
}

void device_thread::enable(bool on) noexcept {
  enabled_.store(on, std::memory_order_seq_cst);
  if (!on) {
    full_fence();  // what this device puts there after it has seen that, it puts back itself
    while (item* const it = at_hand.take_for_anyone()) {
      const std::lock_guard lock(group_.shared.mutex);
      group_.shared.put_back(*it);
    }
    full_fence();
    if (group_.shared.maybe_nonempty() || someone_offers()) group_.wake_for_shared(1);
    return;
  }
  reconsider();  // what came meanwhile for any device may go before what it has sorted
  queue.arrivals.poke();
  lane.offer();
}

device_stats device_thread::stats() const {
  device_stats all;
  all.id = identity_.info.id;
  all.enabled = enabled();
  // What is in flight is right for the moment between two equal looks at what has ended.
  const auto ended = [this] { return own_.ended() + lane_.ended(); };
  all.ended = ended();
  for (int tries = 0; tries < 8; ++tries) {
    all.started = own_.started() + lane_.started();
    const auto before = std::exchange(all.ended, ended());
    if (before == all.ended) break;
  }
  all.failed = own_.failed() + lane_.failed();
  all.dropped = own_.dropped() + lane_.dropped();
  all.queued = queued();
  all.in_flight = all.started > all.ended ? all.started - all.ended : 0;
  const std::int64_t since = busy_since_ns_.load(std::memory_order_relaxed);
  all.busy = std::chrono::nanoseconds(busy_ns_.load(std::memory_order_relaxed) +
                                      (since != 0 ? now_ns() - since : 0));
  return all;
}

}  // namespace heddle::detail
