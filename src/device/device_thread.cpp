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
#include "pure/batch.hpp"
#include "work/fence.hpp"

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
    urgent_ = group_.seam->urgent_stream(setup_.driver_device);
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

item* device_thread::take() {
  for (;;) {
    if (reconsider_.load(std::memory_order_relaxed) &&
        reconsider_.exchange(false, std::memory_order_acquire)) {
      put_back_hand();
    }
    item* taken = at_hand.pop();
    if (taken == nullptr) {
      taken = take_left_lying();
      if (taken == nullptr) taken = take_from_queues();
      if (taken == nullptr) taken = take_from_others();
      if (taken == nullptr) return nullptr;
      pass_on();
    }
    if (taken->device >= 0) {
      pinned_taken_.store(pinned_taken_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    if (begin(*taken)) return taken;
  }
}

// Takes the next item, and some more to hand where they are short.
item* device_thread::take_from_queues() {
  const bool from_own = queue.maybe_nonempty();
  const bool from_shared = enabled() && group_.shared.maybe_nonempty();
  at_hand.offer(false);
  if (!from_own && !from_shared) return nullptr;
  const auto now = std::chrono::steady_clock::now();
  batch_ = std::min(next_batch(batch_, now - batch_taken_, hand::places), window_ - flights_);
  batch_taken_ = now;
  cpu_ = this_cpu();
  item* first = nullptr;
  std::size_t taken = 0;
  std::size_t for_anyone = 0;
  {
    std::unique_lock own_lock(queue.mutex, std::defer_lock);
    std::unique_lock shared_lock(group_.shared.mutex, std::defer_lock);
    if (from_own) {
      own_lock.lock();
      queue.sort_arrivals();
    }
    // Who sleeps could take them now.
    std::size_t most_for_anyone = 1;
    if (from_shared) {
      shared_lock.lock();
      group_.shared.sort_arrivals();
      if (group_.parked.load(std::memory_order_relaxed) == 0) {
        most_for_anyone = fair_share(group_.shared.size(), group_.threads.size());
      }
    }
    while (taken < batch_) {
      heads_.clear();
      if (from_own) queue.heads(heads_);
      const std::size_t own_heads = heads_.size();
      if (from_shared) group_.shared.heads(heads_);
      const auto chosen = pick(heads_, starts_);
      if (!chosen) break;
      const bool own = *chosen < own_heads;
      // Those with a priority one by one, since others may come that go before them, or not before long ones.
      const bool plain = heads_[*chosen].priority == 0;
      if (first != nullptr && !plain) break;
      auto& from = own ? queue : group_.shared;
      const std::size_t index = own ? *chosen : *chosen - own_heads;
      // Where there is one list only, the next ones come from there as well.
      std::size_t run = heads_.size() == 1 ? batch_ - taken : 1;
      if (!own) run = std::min(run, most_for_anyone - std::min(for_anyone, most_for_anyone));
      if (run == 0) break;
      if (!plain) run = 1;
      item_list items = from.take(index, run);
      starts_ += run;
      while (item* const it = items.pop()) {
        ++taken;
        if (!own) ++for_anyone;
        if (first == nullptr) {
          first = it;
        } else {
          at_hand.add(*it, !own);
        }
      }
      if (!plain) break;
    }
  }
  batch_ = std::max<std::size_t>(taken, 1);
  if (taken > 1 && for_anyone > 0) {
    at_hand.offer(true);
    full_fence();  // who disables this device has said so before it looks here
    if (!enabled()) put_back_hand();
  }
  return first;
}

// Whoever was woken for a shared item may take another one first, and be long about it: each device that
// takes one passes the word on while there are more, in the queue or at hand. tests/model/parked_devices.pml.
void device_thread::pass_on() noexcept {
  full_fence();  // who parks has said so before it looks at the queue and at the hands
  if (group_.parked.load(std::memory_order_seq_cst) == 0) return;
  if (group_.shared.maybe_nonempty() || someone_offers()) group_.wake_for_shared(1);
}

bool device_thread::take_over(item& it) noexcept {
  if (it.device != identity_.index || it.in_arena || it.priority != 0) return false;
  if (top_ != nullptr || at_hand.full()) return false;
  if (queue.maybe_nonempty() || (enabled() && group_.shared.maybe_nonempty())) return false;
  count_pinned(1);
  at_hand.add(it, false);
  return true;
}

// What a device that is busy now has at hand, so that nothing waits for its turn while another one is idle.
item* device_thread::take_from_others() noexcept {
  device_thread* const other = who_offers();
  return other != nullptr ? other->at_hand.take_for_anyone() : nullptr;
}

device_thread* device_thread::who_offers() const noexcept {
  if (!enabled() || !group_.complete.load(std::memory_order_acquire)) return nullptr;
  for (const auto& each : group_.threads) {
    if (each.get() != this && each->at_hand.offers()) return each.get();
  }
  return nullptr;
}

// The same, this one among them, whether or not it may take part.
bool device_thread::someone_offers() const noexcept {
  return std::any_of(group_.threads.begin(), group_.threads.end(),
                     [](const auto& each) { return each->at_hand.offers(); });
}

// What a device has at hand that has begun nothing between two looks: it is busy with something long.
item* device_thread::take_left_lying() noexcept {
  if (!enabled() || !group_.complete.load(std::memory_order_acquire)) return nullptr;
  const std::size_t count = group_.threads.size();
  if (count < 2) return nullptr;
  looked_at_ = looked_at_ + 1 < count ? looked_at_ + 1 : 0;  // one at a time
  device_thread& other = *group_.threads[looked_at_];
  if (&other == this || !other.at_hand.offers()) return nullptr;
  if (seen_started_.size() != count) seen_started_.assign(count, 0);
  const std::uint64_t started = other.own_.started();
  if (std::exchange(seen_started_[looked_at_], started) != started) return nullptr;
  return other.at_hand.take_for_anyone();
}

void device_thread::put_back_hand() noexcept {
  at_hand.offer(false);
  std::size_t count = 0;
  std::size_t for_anyone = 0;
  while (item* const it = at_hand.pop()) {
    ++count;
    if (it->device < 0) ++for_anyone;
    auto& from = it->device < 0 ? group_.shared : queue;
    const std::lock_guard lock(from.mutex);
    from.put_back(*it);
  }
  starts_ -= count;
  batch_ -= std::min(count, batch_ - 1);
  if (for_anyone == 0) return;
  full_fence();
  group_.wake_for_shared(for_anyone);
}

bool device_thread::work_arrived() const noexcept {
  return queue.maybe_nonempty() || (group_.shared.maybe_nonempty() && enabled()) || who_offers() != nullptr ||
         group_.stopping.load(std::memory_order_seq_cst);
}

bool device_thread::spin_for_work() noexcept {
  if (submitter_cpu_ < 0) return false;  // before the first one there is nothing to hope for
  cpu_ = this_cpu();
  // A submitter on this very CPU cannot submit before this thread goes away.
  if (submitter_cpu_ == cpu_) {
    if (!leaver_.met()) return false;
    cpu_ = this_cpu();
  }
  // What is not an arrival is looked for before the thread parks: the fewer lines a turn reads, the sooner it
  // sees.
  const auto& shared = enabled() ? group_.shared : queue;
  const bool came =
      spin_until([&] { return !queue.arrivals.empty() || !shared.arrivals.empty(); }, habit_.next());
  habit_.learn(came);
  return came;
}

void device_thread::idle() {
  group_.books.tell_end();
  if (spin_for_work()) return;
  const std::int64_t idle_since = now_ns();
  busy_ns_.fetch_add(idle_since - busy_since_ns_.exchange(0, std::memory_order_relaxed),
                     std::memory_order_relaxed);
  // A disabled device is nobody that others need think of; `enable` wakes it.
  const int counts = enabled() ? 1 : 0;
  group_.parked.fetch_add(counts, std::memory_order_seq_cst);
  if (queue.arrivals.try_park()) {
    if (work_arrived()) {
      queue.arrivals.unpark();
    } else {
      sleep_in_inbox();
    }
  }
  group_.parked.fetch_sub(counts, std::memory_order_seq_cst);
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
      if (!work_arrived()) queue.arrivals.sleep_until(std::chrono::steady_clock::now() + delay);
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
  if (it.extras && is_late(it) && is_unstarted(it)) cancel_as_late(it);
  if (!claim_taken(it)) {
    dispose(it);
    return false;
  }
  begin_claimed(it);
  return true;
}

void device_thread::begin_claimed(item& it) noexcept {
  wait_graph::after_claim(it);
  counts(it).start();
  group_.books.tell_room();
  it.ran_on = static_cast<std::int16_t>(identity_.index);
  it.ran_on_id = identity_.info.id;
  if (!it.in_arena) {
    submitter_cpu_ = it.cpu.load(std::memory_order_relaxed);
    it.cpu.store(cpu_, std::memory_order_relaxed);
  }
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
  tally& mine = counts(it);
  release_from_queue(it);
  mine.drop(1);
  group_.books.tell_room();
}

void device_thread::call(item_frame& frame) noexcept {
  item& it = frame.running;
  device_context context(frame);
  // Isolated: this thread, waiting in an inner loop of the callable, must not run a foreign body in the
  // middle of it.
  tbb::this_task_arena::isolate([&] {
    try {
      it.operations().run(it, context);
    } catch (...) {
      it.error = std::current_exception();
    }
  });
}

void device_thread::finish(item& it, bool from_queue) noexcept {
  destroy_captures(it);
  tally& mine = counts(it);
  if (it.error) mine.fail();
  if (it.extras && it.extras->times) it.extras->times->done = std::chrono::steady_clock::now();
  publish(it, from_queue);
  mine.end();
}

void device_thread::serve_until_ended(item& awaited) {
  put_back_hand();  // others may run it meanwhile, and this thread what it waits for
  wait_graph::wait(*this, awaited);
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
    if (group_.shared.maybe_nonempty()) group_.wake_for_shared(1);
    return;
  }
  queue.arrivals.poke();
  lane.offer();
}

device_stats device_thread::stats() const {
  device_stats all;
  all.id = identity_.info.id;
  all.enabled = enabled();
  all.ended = own_.ended() + lane_.ended();
  all.started = own_.started() + lane_.started();
  all.failed = own_.failed() + lane_.failed();
  all.dropped = own_.dropped() + lane_.dropped();
  all.queued = queued();
  all.in_flight = all.started - all.ended;
  const std::int64_t since = busy_since_ns_.load(std::memory_order_relaxed);
  all.busy = std::chrono::nanoseconds(busy_ns_.load(std::memory_order_relaxed) +
                                      (since != 0 ? now_ns() - since : 0));
  return all;
}

}  // namespace heddle::detail
