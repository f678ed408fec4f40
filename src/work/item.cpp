// SPDX-License-Identifier: Apache-2.0
#include "work/item.hpp"

#include <string>

#include "heddle/error.hpp"
#include "observe/error_sink.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"
#include "work/futex.hpp"
#include "work/prefetch.hpp"
#include "work/spin.hpp"

namespace heddle::detail {

using namespace item_flag;

constinit continuation stream_followers_closed;

void delete_extras::operator()(item_extras* extras) const noexcept { delete extras; }

namespace {

continuation* list_of(std::uint64_t word) noexcept {
  return reinterpret_cast<continuation*>((word >> bits) << 6);
}

std::uint64_t word_of(continuation* list) noexcept {
  return (reinterpret_cast<std::uint64_t>(list) >> 6) << bits;
}

[[gnu::noinline]] void tell_untaken_error(const item& it) noexcept {
  if (it.error_taken || it.ran_on_id < 0) return;  // that it never started somebody wanted
  const auto label = it.extras ? it.extras->label : std::string();
  const std::optional<int> device = it.ran_on_id < 0 ? std::nullopt : std::optional<int>(it.ran_on_id);
  std::string message = "an item";
  if (!label.empty()) message += " '" + label + "'";
  if (device) message += " on device " + std::to_string(*device);
  message += " failed and nobody took its error: " + text_of(it.error);
  report_to(it.group_serial, {it.error, device, label, message});
}

// The last owner's duty.
void free_item(item& it) noexcept {
  if (it.error) tell_untaken_error(it);
  it.operations().destroy(it);
}

void fire_all(continuation* newest_first, int device) noexcept {
  continuation* in_order = nullptr;
  while (newest_first != nullptr) {
    continuation* const next = newest_first->next;
    newest_first->next = in_order;
    in_order = newest_first;
    newest_first = next;
  }
  while (in_order != nullptr) {
    continuation* const next = in_order->next;  // before fire: the continuation may be gone after it
    in_order->kind->fire(*in_order, device);
    in_order = next;
  }
}

std::string name_of(const item& it) {
  return it.extras && !it.extras->label.empty() ? "item '" + it.extras->label + "'" : std::string("the item");
}

bool deadline_passed(const item& it) {
  return it.extras && it.extras->deadline && std::chrono::steady_clock::now() >= *it.extras->deadline;
}

void end_if_late(item& it) {
  if (deadline_passed(it) && is_unstarted(it)) cancel_as_late(it);
}

// Spins only while somebody on another CPU may be about to end it. On the same one he waits for this thread
// to go away: it steps aside once, and sleeps. Who waits for the oldest of many sleeps, too: many have ended
// when it wakes, and meanwhile it keeps neither a core nor cache lines from those who run them.
bool spin_until_done(item& it) {
  constexpr std::uint64_t many = 16;
  // From submission to end it takes longer, about. Each look takes the line away from the device that writes
  // it.
  constexpr std::chrono::nanoseconds soonest{200};
  if (current().last_ticket > it.ticket + many) return false;
  thread_local polite_yield step_aside;
  const auto ended_or_hopeless = [&it, mine = this_cpu(), looks = 0u]() mutable {
    prefetch_to_read(reinterpret_cast<std::intptr_t>(&it) + 64);  // the value, when it is done
    const std::uint64_t word = it.word.load(std::memory_order_acquire);
    if (word & done) return true;
    // Not each time: who runs it writes that line.
    return ++looks % 16 == 0 && (word & started) && it.cpu.load(std::memory_order_relaxed) == mine;
  };
  // The device thread may have been woken on this very CPU.
  const bool woke = std::exchange(current().woke_a_device, false);
  if (woke && is_unstarted(it) && step_aside.pays()) step_aside();
  if (spin_permit::most() > 0) spin_for(soonest);
  spin_until(ended_or_hopeless);
  return is_done(it);
}

}  // namespace

bool claim(item& it) noexcept {
  // Acquires what the submitter wrote. Seq_cst, for wait_graph.hpp.
  return (it.word.fetch_or(started, std::memory_order_seq_cst) & (started | cancelled)) == 0;
}

bool claim_taken(item& it) noexcept {
  // Nobody else can reach an item whose future was dropped and that nothing refers to: no exchange is needed.
  const bool alone = it.word.load(std::memory_order_acquire) == future_gone && !it.extras &&
                     it.waits_for == nullptr && !it.is_step;
  if (!alone) return claim(it);
  it.word.store(future_gone | started, std::memory_order_relaxed);
  return true;
}

bool is_done(const item& it) noexcept { return (it.word.load(std::memory_order_acquire) & done) != 0; }

bool is_cancelled(const item& it) noexcept {
  return (it.word.load(std::memory_order_acquire) & cancelled) != 0;
}

bool is_unstarted(const item& it) noexcept {
  return (it.word.load(std::memory_order_seq_cst) & (started | cancelled | done)) == 0;
}

namespace {
[[gnu::noinline]] void publish_to_others(item& it, bool from_queue) noexcept {
  // Followers that came too late for the callable's return learn of the end like any other continuation.
  continuation* unserved = nullptr;
  // Not it.device: who cancels an item that waits for another one does so while that one's end may route it.
  const int device = it.ran_on;
  std::uint64_t old = it.word.load(std::memory_order_acquire);
  std::uint64_t now = 0;
  do {
    if ((old & streamed) && it.on_stream.load(std::memory_order_relaxed) != &stream_followers_closed) {
      unserved = it.on_stream.exchange(&stream_followers_closed, std::memory_order_acq_rel);
    }
    now = (old & (mask & ~waited)) | done | (from_queue ? queue_gone : 0);
  } while (!it.word.compare_exchange_weak(old, now, std::memory_order_seq_cst, std::memory_order_relaxed));
  // Released: error, value, ran_on, and the end of all captures. From here on the item belongs to its other
  // owners.
  if (old & waited) futex_wake_all(it.word);
  continuation* const list = list_of(old);
  if ((now & future_gone) && (now & queue_gone)) free_item(it);
  if (unserved != nullptr) fire_all(unserved, device);
  if (list != nullptr) fire_all(list, device);
}
}  // namespace

void publish(item& it, bool from_queue) noexcept {
  const bool reachable = it.word.load(std::memory_order_acquire) != (started | future_gone);
  if (reachable || !from_queue) return publish_to_others(it, from_queue);
  free_item(it);
}

void release_from_queue(item& it) noexcept {
  const std::uint64_t old = it.word.fetch_or(queue_gone, std::memory_order_acq_rel);
  if ((old & done) && (old & future_gone)) free_item(it);
}

void drop_future(item& it) noexcept {
  if (is_forked_child()) return;
  const std::uint64_t now = it.word.load(std::memory_order_acquire);
  if ((now & done) && (now & queue_gone)) return free_item(it);  // nobody else can reach it
  const std::uint64_t old = it.word.fetch_or(future_gone, std::memory_order_acq_rel);
  if ((old & done) && (old & queue_gone)) free_item(it);
}

void destroy_captures(item& it) noexcept {
  it.operations().destroy_callable(it);
  while (it.kept != nullptr) {  // newest first, as local variables would go
    kept_object* const gone = it.kept;
    it.kept = gone->next;
    delete gone;
  }
}

bool try_cancel(item& it, std::exception_ptr error) {
  std::uint64_t old = it.word.load(std::memory_order_relaxed);
  do {
    if (old & (started | cancelled | done)) return false;
  } while (!it.word.compare_exchange_weak(old, old | cancelled, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  it.error = std::move(error);
  publish(it, false);
  return true;
}

bool attach(item& it, continuation& what) {
  std::uint64_t old = it.word.load(std::memory_order_acquire);
  do {
    if (old & done) return false;
    what.next = list_of(old);
  } while (!it.word.compare_exchange_weak(old, (old & mask) | word_of(&what), std::memory_order_acq_rel,
                                          std::memory_order_acquire));
  return true;
}

std::uint64_t announce_wait(item& it) noexcept {
  return it.word.fetch_or(waited, std::memory_order_seq_cst) | waited;
}

std::uint64_t announce_served_wait(item& it) noexcept {
  it.word.fetch_and(~item_flag::nudge, std::memory_order_seq_cst);
  return announce_wait(it) & ~item_flag::nudge;  // one that came in between keeps the caller awake
}

void nudge(item& it) noexcept {
  it.word.fetch_or(item_flag::nudge, std::memory_order_seq_cst);
  futex_wake_all(it.word);
}

bool has_ended(item& it) {
  refuse_in_forked_child("future");
  if (is_done(it)) return true;
  end_if_late(it);
  return is_done(it);
}

void wait_until_ended(item& it) {
  if (is_done(it)) {
    refuse_in_forked_child("future::wait");
    return;
  }
  wait_until_ended(it, std::chrono::steady_clock::time_point::max());
}

bool wait_until_ended(item& it, std::chrono::steady_clock::time_point limit) {
  using clock = std::chrono::steady_clock;
  const bool for_ever = limit == clock::time_point::max();
  if (has_ended(it)) return true;
  if (for_ever && on_own_device_thread()) {
    current().waiting->serve_until_ended(*current().own, it);
    return true;
  }
  if (for_ever && on_arena_thread()) {
    throw would_deadlock(
        "a thread of a device's arena may not wait for an unfinished item, since the item may need that "
        "thread: continue "
        "with future::then, or wait in an item on the device thread");
  }
  if (for_ever && spin_until_done(it)) return true;
  for (;;) {
    const std::uint64_t seen = announce_wait(it);
    if (seen & done) return true;
    auto until = limit;
    if (it.extras && it.extras->deadline && !(seen & started)) until = std::min(until, *it.extras->deadline);
    if (until == clock::time_point::max()) {
      futex_wait(it.word, seen);
    } else {
      futex_wait_until(it.word, seen, until);
    }
    if (has_ended(it)) return true;
    if (!for_ever && clock::now() >= limit) return false;
  }
}

bool cancel_by_future(item& it) {
  refuse_in_forked_child("future::cancel");
  return is_unstarted(it) && cancel_as_asked(it, "its future");
}

bool cancel_as_asked(item& it, const char* who) {
  if (it.resumes_coroutine) return false;
  if (it.extras && it.extras->cancel) return it.extras->cancel();
  return try_cancel(it, std::make_exception_ptr(
                            heddle::cancelled(name_of(it) + " was cancelled by " + who +
                                              " before it started; submit it again if it is still wanted")));
}

bool cancel_as_late(item& it) {
  return try_cancel(
      it, std::make_exception_ptr(deadline_exceeded(
              name_of(it) + " had not started at its deadline; give it more time or a higher priority")));
}

bool is_late(const item& it) { return deadline_passed(it); }

std::string why_of(const item& it) {
  std::string why;
  switch (static_cast<route_reason>(it.reason)) {
    case route_reason::any:
      why = "any device";
      break;
    case route_reason::pinned:
      why = "the device that its route names";
      break;
    case route_reason::keyed:
      why = "the device of its key";
      break;
    case route_reason::spilled:
      why = "any device, since the one of its key was overloaded";
      break;
    case route_reason::follows:
      why = "the device of the item that it continues";
      break;
  }
  if (!is_done(it)) return why;
  if (it.ran_on_id < 0) return why + "; ended before it started";
  return why + "; ran on device " + std::to_string(it.ran_on_id);
}

std::string label_of(const item& it) { return it.extras ? it.extras->label : std::string(); }

std::optional<item_times> times_of(const item& it) { return it.extras ? it.extras->times : std::nullopt; }

}  // namespace heddle::detail
