// SPDX-License-Identifier: Apache-2.0
#include "device/wait_graph.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <string>

#include "device/continuations.hpp"
#include "device/device_thread.hpp"
#include "heddle/error.hpp"
#include "work/futex.hpp"

namespace heddle::detail::wait_graph {

namespace {

struct record {
  device_thread* waiter;
  item* awaited;         // alive while the record stands: the waiter holds its future
  bool must_end;         // the waiter's stack is in use by what it waits for: never the one that gives up
  bool may_nest;         // whether the waiter may run another item on top
  std::uint64_t held;    // the fixed streams of the items on its stack, a bit each
  bool serving = false;  // it runs another item meanwhile
  bool refused = false;  // it is to give up
};

std::mutex mutex;
std::list<record> records;    // guarded by mutex; a thread's newest is its last
std::atomic<int> entered{0};  // how many records stand or are about to; seq_cst with claims and pushes

bool holds(const record& r, int stream) noexcept { return stream >= 0 && (r.held >> stream & 1) != 0; }

// The first unended item that has to end before `it` can: itself, or one that it continues. Under the mutex.
item& front_of(item& it) {
  item* front = &it;
  while (is_unstarted(*front)) {
    item* before = nullptr;
    if (front->waits_for != nullptr && !is_done(*front->waits_for)) before = front->waits_for;
    if (front->extras) {
      for (item* const each : front->extras->waits_for_all) {
        if (before == nullptr && !is_done(*each)) before = each;
      }
    }
    if (before == nullptr) break;
    front = before;
  }
  return *front;
}

// `front`, or what stands before it on its fixed stream, if the waiter `mine` may run that for `whose`; else
// null. Under the mutex.
item* servable_front(const record& mine, const record& whose, item& front) {
  if (!is_unstarted(front) || front.in_arena || front.group == nullptr) return nullptr;
  const auto& me = mine.waiter->identity();
  if (front.group != me.group) return nullptr;
  const int device = std::atomic_ref(front.device).load(std::memory_order_relaxed);
  auto& queue = mine.waiter->queue;
  if (device == same_device) {
    // Not yet. The end of its predecessor is about to queue it, and notifies then; or it is a step behind
    // other steps, which nobody may be waiting for.
    if (!front.is_step) return nullptr;
    const std::lock_guard lock(queue.mutex);
    return queue.find(
        [&](const item& each) { return each.is_step && !holds(mine, each.stream) && is_unstarted(each); });
  }
  // Items for any device each waiter takes itself, unless it has no device of their scheduler.
  const bool own = &whose == &mine || whose.waiter->identity().group != me.group;
  if (device >= 0 ? device != me.index : !own) return nullptr;
  if (front.stream < 0) return &front;
  // Never past an unfinished predecessor on a fixed stream: one before it in the queue goes first, and one
  // that this very stack holds cannot end before we return.
  if (holds(mine, front.stream)) return nullptr;
  const std::lock_guard lock(queue.mutex);
  const auto stream = front.stream;
  item* const first =
      queue.find([stream](const item& each) { return each.stream == stream && is_unstarted(each); });
  return first != nullptr ? first : &front;
}

// The same for any of what has to end before `it` can. Under the mutex.
item* servable_before(const record& mine, const record& whose, item& it) {
  item* at = &it;
  for (;;) {  // chains are long, trees are flat
    if (!is_unstarted(*at)) return nullptr;
    if (at->extras && !at->extras->waits_for_all.empty()) {
      bool all_done = true;
      for (item* const each : at->extras->waits_for_all) {
        if (is_done(*each)) continue;
        all_done = false;
        if (item* const found = servable_before(mine, whose, *each)) return found;
      }
      if (!all_done) return nullptr;
    }
    if (at->waits_for == nullptr || is_done(*at->waits_for)) return servable_front(mine, whose, *at);
    at = at->waits_for;
  }
}

// What the waiter `mine` may run so that what `whose` waits for comes nearer to its end; null if that is none
// of its business. Under the mutex.
item* servable(const record& mine, const record& whose) {
  return mine.may_nest ? servable_before(mine, whose, *whose.awaited) : nullptr;
}

// Compared, not followed: a scheduler that an item has left may be gone.
bool is_device(const device_thread& thread, const device_group* group, int index) {
  return thread.identity().group == group && thread.identity().index == index;
}

record* newest_of(const device_group* group, int index) {
  const auto last = std::find_if(records.rbegin(), records.rend(),
                                 [&](const record& r) { return is_device(*r.waiter, group, index); });
  return last == records.rend() ? nullptr : &*last;
}

// Whether the wait `mine` closes a circle of threads each of which waits for the next; `other` is then a
// waiter of the circle that may give up in place of `mine`. Under the mutex, after `servable` found nothing.
bool closes_circle(const record& mine, record*& other) {
  const record* at = &mine;
  for (std::size_t steps = 0; steps <= records.size(); ++steps) {
    item& front = front_of(*at->awaited);
    int holder = -1;  // the device that has it
    if (is_unstarted(front)) {
      if (front.group == nullptr || front.in_arena) return false;  // the arena's threads will run it
      const int device = std::atomic_ref(front.device).load(std::memory_order_relaxed);
      if (device < 0) {
        // Steps before it have parts on this very device, behind what this stack holds.
        if (at == &mine && front.is_step && holds(mine, front.stream)) return true;
        // Any device may take it, so the waiter itself would have, were it not too deep.
        return at == &mine && front.group == mine.waiter->identity().group && !mine.may_nest;
      }
      holder = device;
      const record* const waits =
          is_device(*mine.waiter, front.group, holder) ? &mine : newest_of(front.group, holder);
      if (waits == nullptr) return false;  // it is free, or runs something
      // It will serve; this one too, where the item was queued after it had looked.
      if (waits->may_nest && !holds(*waits, front.stream)) return false;
    } else {
      holder = front.runner.load(std::memory_order_acquire) - 1;
      if (holder < 0) return false;  // about to run, or its callable has returned
    }
    if (is_device(*mine.waiter, front.group, holder)) return true;
    record* const next = newest_of(front.group, holder);
    if (next == nullptr || next->serving || next->refused) return false;  // it goes on
    if (!next->must_end) other = next;
    at = next;
  }
  return false;
}

[[noreturn]] void refuse(const record& mine) {
  const std::string label = label_of(*mine.awaited);
  throw would_deadlock("an item on device " + std::to_string(mine.waiter->identity().info.id) +
                       " waits for " + (label.empty() ? std::string("an item") : "item '" + label + "'") +
                       (mine.may_nest ? " that cannot end before the waiting one does"
                                      : ", but items wait inside one another " +
                                            std::to_string(deepest_wait) + " deep here already") +
                       ": continue with future::then, or wait outside of items");
}

// One wait's record, as long as it lasts.
class entry {
 public:
  entry(device_thread& self, item& awaited) {
    entered.fetch_add(1, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex);
    place = records.insert(records.end(),
                           {&self, &awaited, current().must_end, self.may_nest(), self.held_streams()});
    // Others may be able to serve what this one waits for.
    for (const auto& each : records) {
      if (each.waiter != &self) nudge(*each.awaited);
    }
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    const std::lock_guard lock(mutex);
    records.erase(place);
    entered.fetch_sub(1, std::memory_order_seq_cst);
  }

  std::list<record>::iterator place;
};

// An item that the waiter has claimed for running; null if it has nothing to run. Throws where the wait can
// never end.
item* claim_servable(record& mine) {
  const std::lock_guard lock(mutex);
  item* next = servable(mine, mine);
  for (auto each = records.begin(); next == nullptr && each != records.end(); ++each) {
    if (each->waiter != mine.waiter) next = servable(mine, *each);
  }
  if (next != nullptr) {
    if (!claim(*next)) {  // another was faster: look again
      nudge(*mine.awaited);
      return nullptr;
    }
    mine.serving = true;
    return next;
  }
  if (mine.refused) refuse(mine);
  record* other = nullptr;
  if (!closes_circle(mine, other)) return nullptr;
  if (!mine.must_end || other == nullptr) refuse(mine);
  other->refused = true;
  nudge(*other->awaited);
  return nullptr;
}

}  // namespace

void wait(device_thread& self, item& awaited) {
  constexpr auto shortest = std::chrono::microseconds(20);
  constexpr auto longest = std::chrono::microseconds(1000);
  const entry registered(self, awaited);
  record& mine = *registered.place;
  auto delay = shortest;
  for (;;) {
    const std::uint64_t seen = announce_served_wait(awaited);  // first: what changes after it keeps us awake
    if (seen & item_flag::done) return;
    if (is_late(awaited) && is_unstarted(awaited) && cancel_as_late(awaited)) return;
    if (item* const next = claim_servable(mine)) {
      self.begin_claimed(*next);
      self.run(*next, false);
      const std::lock_guard lock(mutex);
      mine.serving = false;
    } else if (self.poll()) {
      delay = shortest;
    } else if (self.in_flight() > 0) {
      futex_wait_until(awaited.word, seen, std::chrono::steady_clock::now() + delay);
      delay = std::min(delay * 2, longest);
    } else if (awaited.extras && awaited.extras->deadline && is_unstarted(awaited)) {
      futex_wait_until(awaited.word, seen, *awaited.extras->deadline);
    } else {
      futex_wait(awaited.word, seen);
    }
  }
}

namespace {
[[gnu::noinline]] void nudge_all() noexcept {
  const std::lock_guard lock(mutex);
  for (const auto& each : records) nudge(*each.awaited);
}
}  // namespace

void notify() noexcept {
  if (entered.load(std::memory_order_seq_cst) != 0) nudge_all();
}

void after_claim_of_follower(item&) noexcept {
  if (entered.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex);  // whoever followed it has left
}

}  // namespace heddle::detail::wait_graph
