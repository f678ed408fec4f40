// SPDX-License-Identifier: Apache-2.0
// How a device thread with nothing to take waits: it spins where that may pay, and sleeps.
#include <algorithm>
#include <chrono>
#include <thread>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "pure/admission.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

namespace {

constexpr auto longest_pause = std::chrono::microseconds(1000);
constexpr auto longest_visit = std::chrono::milliseconds(10);  // that is not called back

}  // namespace

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
  park([this] { sleep_in_inbox(); });
  busy_since_ns_.store(now_ns(), std::memory_order_relaxed);
}

// Sleeps by `sleep`, unless there is work.
template <class Sleep>
void device_thread::park(Sleep sleep) {
  if (!queue.arrivals.try_park()) return;
  // A disabled device is nobody that others should call. `enable` wakes it, or comes before the last look
  // here.
  const bool may_be_called = enabled();
  const auto number = static_cast<std::size_t>(setup_.driver_device);
  if (may_be_called) group_.resting.lie_down(number);
  if (!work_arrived() && may_be_called == enabled()) sleep();
  queue.arrivals.unpark();
  const bool called = may_be_called && group_.resting.get_up(number);
  // Who called it relies on it.
  if (called && !enabled() && (group_.shared.maybe_nonempty() || someone_offers())) group_.wake_for_shared(1);
}

void device_thread::sleep_in_inbox() {
  auto patience = longest_visit;
  while (observer_.visited()) {  // seldom for long; see arena_observer::kick
    queue.arrivals.sleep_until(std::chrono::steady_clock::now() + patience);
    if (!queue.arrivals.sleeping()) return;
    if (!observer_.visited() || !lane.idle()) continue;
    observer_.kick();
    patience *= 2;  // as in arena_observer::end
  }
  queue.arrivals.sleep();
}

void device_thread::pause(std::chrono::microseconds& delay) {
  if (!may_take(flights_, window_)) {
    std::this_thread::sleep_for(delay);  // what arrives in the inbox has to wait for a mark in any case
  } else {
    park([&] { queue.arrivals.sleep_until(std::chrono::steady_clock::now() + delay); });
  }
  delay = std::min(delay * 2, longest_pause);
}

}  // namespace heddle::detail
