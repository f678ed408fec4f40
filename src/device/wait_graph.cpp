// SPDX-License-Identifier: Apache-2.0
#include "device/wait_graph.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "device/device_thread.hpp"
#include "heddle/error.hpp"
#include "work/futex.hpp"

namespace heddle::detail::wait_graph {

namespace {

struct record {
  device_thread* waiter;
  item* awaited;  // alive while the record stands: the waiter holds its future
  bool must_end;  // the waiter's stack is in use by what it waits for: never the one that gives up
  bool refused = false;
};

std::mutex mutex;
std::vector<record> records;  // guarded by mutex; a thread's newest is its last
std::atomic<int> entered{0};  // how many records stand or are about to; seq_cst with claims and pushes

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

// What `self` may run so that `it` comes nearer to its end; null if that is none of its business. Under the
// mutex.
item* servable(device_thread& self, item& it, bool own) {
  item* const front = &front_of(it);
  if (!is_unstarted(*front) || front->in_arena || front->group == nullptr) return nullptr;
  const auto& me = self.identity();
  if (front->group != me.group) return nullptr;
  if (front->device >= 0 ? front->device != me.index : !own) return nullptr;
  if (front->stream < 0) return front;
  // Never past an unfinished predecessor on a fixed stream: an older one in the queue goes first, and one
  // that this very stack holds cannot end before we return.
  if (self.holds_stream(front->stream)) return nullptr;
  const std::lock_guard lock(self.queue.mutex);
  const auto stream = front->stream;
  item* const older =
      self.queue.find([stream](const item& each) { return each.stream == stream && is_unstarted(each); });
  return older != nullptr && older->ticket < front->ticket ? older : front;
}

record* newest_of(const device_thread* thread) {
  const auto last =
      std::find_if(records.rbegin(), records.rend(), [&](const record& r) { return r.waiter == thread; });
  return last == records.rend() ? nullptr : &*last;
}

// Whether `self`, waiting for `awaited`, closes a circle of threads each of which waits for the next; `other`
// is then a waiter of the circle that may give up in place of `self`. Under the mutex.
bool closes_circle(device_thread& self, item& awaited, record*& other) {
  item* next = &awaited;
  for (std::size_t steps = 0; steps <= records.size(); ++steps) {
    item& front = front_of(*next);
    const device_thread* holder = nullptr;
    if (is_unstarted(front)) {
      if (front.group == nullptr || front.in_arena || front.device < 0) {
        // Anybody may take it; if that is `self` alone it has tried already, and is at its depth.
        if (front.in_arena || front.group != self.identity().group || self.may_nest()) return false;
        return true;
      }
      holder = front.group->threads[static_cast<std::size_t>(front.device)].get();
      const record* const waits = newest_of(holder);
      if (holder != &self &&
          (waits == nullptr || (holder->may_nest() && !holder->holds_stream(front.stream)))) {
        return false;  // it is free, or will serve
      }
    } else {
      holder = front.runner.load(std::memory_order_acquire);
      if (holder == nullptr) return false;  // about to run, or its callable has returned
    }
    if (holder == &self) return true;
    record* const held_by = newest_of(holder);
    if (held_by == nullptr) return false;  // it runs
    if (held_by->refused) return false;    // it gives up
    if (!held_by->must_end) other = held_by;
    next = held_by->awaited;
  }
  return false;
}

[[noreturn]] void refuse(device_thread& self, item& awaited) {
  const std::string label = awaited.extras ? awaited.extras->label : std::string();
  throw would_deadlock("an item on device " + std::to_string(self.identity().info.id) + " waits for " +
                       (label.empty() ? std::string("an item") : "item '" + label + "'") +
                       (self.may_nest() ? " that cannot end before the waiting one does"
                                        : ", but items wait inside one another " +
                                              std::to_string(deepest_wait) + " deep here already") +
                       ": continue with future::then, or wait outside of items");
}

class entry {
 public:
  entry(device_thread& self, item& awaited) : self_(self) {
    entered.fetch_add(1, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex);
    records.push_back({&self, &awaited, current().must_end});
    // Whoever waits with this item's device in its way looks again: it may be able to serve.
    for (const auto& each : records) {
      if (each.waiter != &self) nudge(*each.awaited);
    }
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    const std::lock_guard lock(mutex);
    const auto last =
        std::find_if(records.rbegin(), records.rend(), [&](const record& r) { return r.waiter == &self_; });
    records.erase(std::next(last).base());
    entered.fetch_sub(1, std::memory_order_seq_cst);
  }

 private:
  device_thread& self_;
};

}  // namespace

void wait(device_thread& self, item& awaited) {
  using namespace std::chrono_literals;
  const entry registered(self, awaited);
  auto delay = 20us;
  for (;;) {
    const std::uint64_t seen = announce_wait(awaited);  // before the looks below: what changes later wakes us
    if (seen & item_flag::done) return;
    if (is_late(awaited) && is_unstarted(awaited) && cancel_as_late(awaited)) return;
    item* next = nullptr;
    {
      const std::lock_guard lock(mutex);
      if (self.may_nest()) {
        next = servable(self, awaited, true);
        for (std::size_t k = 0; next == nullptr && k < records.size(); ++k) {
          if (records[k].waiter != &self) next = servable(self, *records[k].awaited, false);
        }
      }
      if (next != nullptr && !claim(*next)) continue;  // another was faster; look again
      record* other = nullptr;
      if (newest_of(&self)->refused) refuse(self, awaited);
      if (next == nullptr && closes_circle(self, awaited, other)) {
        if (!current().must_end || other == nullptr) refuse(self, awaited);
        other->refused = true;
        nudge(*other->awaited);
      }
    }
    if (next != nullptr) {
      self.begin_claimed(*next);
      self.run(*next, false);
      continue;
    }
    if (self.poll()) {
      delay = 20us;
      continue;
    }
    if (self.in_flight() > 0) {
      futex_wait_until(awaited.word, seen, std::chrono::steady_clock::now() + delay);
      delay = std::min(delay * 2, std::chrono::microseconds(1000));
    } else if (awaited.extras && awaited.extras->deadline && is_unstarted(awaited)) {
      futex_wait_until(awaited.word, seen, *awaited.extras->deadline);
    } else {
      futex_wait(awaited.word, seen);
    }
  }
}

void notify() noexcept {
  if (entered.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex);
  for (const auto& each : records) nudge(*each.awaited);
}

void after_claim(item& it) noexcept {
  if (it.waits_for == nullptr && !it.extras) return;
  if (entered.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex);  // whoever followed it has left
}

}  // namespace heddle::detail::wait_graph
