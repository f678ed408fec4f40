// SPDX-License-Identifier: Apache-2.0
#include "work/ledger.hpp"

#include <algorithm>

#include "pure/admission.hpp"
#include "work/fence.hpp"
#include "work/item.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

namespace {
constexpr std::uint64_t closed_flag = std::uint64_t{1} << 63;
constexpr std::uint64_t stopped_flag = std::uint64_t{1} << 62;
constexpr std::uint64_t count_mask = stopped_flag - 1;

constexpr std::size_t large = 1024;
constexpr auto longest_hold = std::chrono::microseconds(200);
constexpr auto look_again = std::chrono::milliseconds(1);
constexpr auto for_ever = std::chrono::steady_clock::time_point::max();

bool refused_by(std::uint64_t state, bool inside) noexcept {
  return (state & stopped_flag) != 0 || ((state & closed_flag) != 0 && !inside);
}
}  // namespace

std::uint64_t ledger::left_queue() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : tallies_) sum += each.started() + each.dropped();
  return sum;
}

std::uint64_t ledger::ended() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : tallies_) sum += each.ended() + each.dropped();
  return sum;
}

ledger::admission_of_items ledger::enter(std::size_t count, bool inside) noexcept {
  std::uint64_t now = entered_.load(std::memory_order_relaxed);
  do {
    if (refused_by(now, inside)) return {0, 0, refusal::stopped};
  } while (!entered_.compare_exchange_weak(now, now + count, std::memory_order_seq_cst));
  return {count, first_ticket_of_all + (now & count_mask)};
}

// Adds up the tallies only where the last sum does not do.
std::uint64_t ledger::unstarted_at_most(std::uint64_t entered, std::size_t asked) noexcept {
  const auto without = [&](std::uint64_t left) {
    const std::uint64_t gone = left + waiting_.load(std::memory_order_relaxed);
    return entered > gone ? entered - gone : 0;
  };
  const std::uint64_t most = without(known_left_.load(std::memory_order_relaxed));
  if (room(most, capacity_) >= asked) return most;
  const std::uint64_t left = left_queue();
  known_left_.store(left, std::memory_order_relaxed);  // an older sum in its place costs a sum, no more
  return without(left);
}

ledger::admission_of_items ledger::admit(std::size_t count, bool inside, bool may_not_wait) {
  bool counted_as_call = false;
  for (;;) {
    std::uint64_t now = entered_.load(std::memory_order_acquire);  // before the counts of what has gone
    for (;;) {
      if (refused_by(now, inside || counted_as_call)) return {0, 0, refusal::stopped};
      const std::uint64_t entered = now & count_mask;
      const std::uint64_t unstarted = unstarted_at_most(entered, count);
      const admission verdict = detail::admit(unstarted, count, capacity_, policy_, may_not_wait);
      if (verdict == admission::refuse) return {0, 0, refusal::full};
      if (verdict == admission::wait) break;
      const std::size_t entering = std::min(count, room(unstarted, capacity_));
      if (!entered_.compare_exchange_weak(now, now + entering, std::memory_order_seq_cst)) continue;
      if (counted_as_call) leave_call();
      return {entering, first_ticket_of_all + entered};
    }
    // Like an item from now on: neither `close` nor the scheduler's end comes between.
    if (!counted_as_call && !enter_call(inside)) return {0, 0, refusal::stopped};
    counted_as_call = true;
    wait_for_room();
  }
}

void ledger::wait_for_room() {
  // Some more than one, if that comes soon: else each start of an item would wake a submitter for one item.
  // The counts lie in lines that device threads write all the time, so that looking at them often slows
  // those.
  const std::size_t worthwhile = std::min<std::size_t>(std::max<std::size_t>(capacity_ / 8, 1), 256);
  const auto enough = [&, looks = 0u]() mutable {
    return ++looks % 16 == 0 && room(unstarted(), capacity_) >= worthwhile;
  };
  if (spin_until(enough)) return;
  sleep_until([&] { return room(unstarted(), capacity_) > 0; }, room_wanted_, for_ever);
  if (capacity_ < large) return;
  // A sleep and a wake cost as much as some hundred items: where many are on their way, more room will come.
  const auto limit = std::chrono::steady_clock::now() + longest_hold;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, limit, [&] { return room(unstarted(), capacity_) >= capacity_ / 8; });
}

// Whether `reached` came before the limit.
template <class Reached>
bool ledger::sleep_until(Reached reached, std::atomic<bool>& wanted,
                         std::chrono::steady_clock::time_point limit) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted.store(true, std::memory_order_seq_cst);
    const bool told = costly_fence();  // if not, nobody may: look again soon
    if (reached()) return true;
    const auto until = told ? limit : std::min(limit, std::chrono::steady_clock::now() + look_again);
    if (until == for_ever) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, until) == std::cv_status::timeout && until == limit) {
      return reached();
    }
  }
}

std::uint64_t ledger::admit_along(std::size_t count) noexcept {
  return first_ticket_of_all + (entered_.fetch_add(count, std::memory_order_seq_cst) & count_mask);
}

// What is entered first and taken off then may seem to take room for a moment, never to make any.
ledger::admission_of_items ledger::admit_waiting(bool inside) noexcept {
  const auto admitted = enter(1, inside);
  if (admitted.count == 0) return admitted;
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  tell_room();
  return admitted;
}

void ledger::take_back(std::size_t count, bool waiting) noexcept {
  if (waiting) waiting_.fetch_sub(count, std::memory_order_relaxed);
  others_.drop(count);
  tell_room();
  tell_end();
}

bool ledger::enter_call(bool inside) noexcept {
  if (enter(1, inside).count == 0) return false;
  others_.start();
  tell_room();
  return true;
}

void ledger::leave_call() noexcept {
  others_.end();
  tell_end();
}

void ledger::close() noexcept { entered_.fetch_or(closed_flag, std::memory_order_seq_cst); }

bool ledger::drain_until(std::chrono::steady_clock::time_point limit) {
  const auto idle = [&] { return pending() == 0; };
  return idle() || sleep_until(idle, end_wanted_, limit);
}

void ledger::watch_end(item& sleeper) {
  const std::lock_guard lock(mutex_);
  watchers_.push_back(&sleeper);
}

void ledger::unwatch_end(item& sleeper) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(watchers_, &sleeper);
}

bool ledger::is_idle_or_told(std::chrono::steady_clock::time_point& limit) noexcept {
  end_wanted_.store(true, std::memory_order_seq_cst);
  if (!costly_fence()) limit = std::min(limit, std::chrono::steady_clock::now() + look_again);
  return pending() == 0;
}

bool ledger::stop_if_idle() noexcept {
  const std::uint64_t gone = ended();
  std::uint64_t now = entered_.load(std::memory_order_seq_cst);
  do {
    if ((now & count_mask) != gone) return false;  // as many as had entered have ended, and none came since
  } while (!entered_.compare_exchange_weak(now, now | closed_flag | stopped_flag, std::memory_order_seq_cst));
  return true;
}

std::uint64_t ledger::next_ticket() const noexcept {
  return first_ticket_of_all + (entered_.load(std::memory_order_relaxed) & count_mask);
}

std::uint64_t ledger::pending() const noexcept {
  // The ends first: they only grow, and an item enters before it ends, so that equality means what it says.
  const std::uint64_t gone = ended();
  return (entered_.load(std::memory_order_seq_cst) & count_mask) - gone;
}

std::uint64_t ledger::unstarted() const noexcept {
  std::uint64_t entered = entered_.load(std::memory_order_seq_cst);
  for (int tries = 0;; ++tries) {
    const std::uint64_t gone = left_queue() + waiting_.load(std::memory_order_seq_cst);
    const std::uint64_t now = entered_.load(std::memory_order_seq_cst);
    // What has entered meanwhile may be gone already. In the end rather too few than too many.
    if (now == entered || tries == 8)
      return (entered & count_mask) > gone ? (entered & count_mask) - gone : 0;
    entered = now;
  }
}

void ledger::wake(std::atomic<bool>& wanted) noexcept {
  if (!wanted.exchange(false, std::memory_order_seq_cst)) return;  // one of many does it
  {
    const std::lock_guard lock(mutex_);
    for (item* const each : watchers_) detail::nudge(*each);
  }
  changed_.notify_all();
}

}  // namespace heddle::detail
