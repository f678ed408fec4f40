// SPDX-License-Identifier: Apache-2.0
#include "device/wait_graph.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "device/continuations.hpp"
#include "device/device_thread.hpp"
#include "heddle/error.hpp"
#include "work/futex.hpp"

namespace heddle::detail::wait_graph {

struct record {
  device_thread* waiter;      // null: a thread of an arena, which serves nobody
  const device_group* group;  // of the item that waits
  item* awaited;              // alive while the record stands: the waiter holds its future, or made it
  bool must_end;       // the waiter's stack is in use by what it waits for: never the one that gives up
  bool may_nest;       // whether the waiter may run another item on top
  std::uint64_t held;  // the fixed streams of the items on its stack, a bit each
  const device_group* drained = nullptr;  // it waits for all items of this; `awaited` only wakes it
  bool limited = false;                   // it ends without what it waits for
  bool serving = false;                   // it runs another item meanwhile
  bool refused = false;                   // it is to give up
  bool seen = false;                      // by the look for a circle that is under way
};

namespace {

std::mutex mutex;
std::list<record> records;      // guarded by mutex; a thread's newest is its last
std::vector<item*> to_look_at;  // guarded by mutex; a stack, since folds are as deep as chains are long
std::atomic<int> entered{0};    // how many records stand or are about to; seq_cst with claims and pushes

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
  const bool own = &whose == &mine || whose.group != me.group;
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

// What the waiter `mine` may run so that what `whose` waits for comes nearer to its end; null if that is none
// of its business. Under the mutex.
item* servable(const record& mine, const record& whose) {
  if (!mine.may_nest) return nullptr;
  to_look_at.assign(1, whose.awaited);
  while (!to_look_at.empty()) {
    item& at = *to_look_at.back();
    to_look_at.pop_back();
    if (!is_unstarted(at)) continue;
    const std::size_t before = to_look_at.size();
    for (std::size_t k = at.extras ? at.extras->waits_for_all.size() : 0; k > 0; --k) {
      if (item* const each = at.extras->waits_for_all[k - 1]; !is_done(*each)) to_look_at.push_back(each);
    }
    if (to_look_at.size() > before) continue;
    if (at.waits_for != nullptr && !is_done(*at.waits_for)) {
      to_look_at.push_back(at.waits_for);
    } else if (item* const found = servable_front(mine, whose, at)) {
      return found;
    }
  }
  return nullptr;
}

// Compared, not followed: a scheduler that an item has left may be gone.
bool is_device(const record& r, const device_group* group, int index) {
  return r.waiter != nullptr && r.group == group && r.waiter->identity().index == index;
}

record* newest_of(const device_group* group, int index) {
  const auto last = std::find_if(records.rbegin(), records.rend(),
                                 [&](const record& r) { return is_device(r, group, index); });
  return last == records.rend() ? nullptr : &*last;
}

bool leads_back(const record& at, const record& mine, record*& other);

// The same for a wait that `at` waits for.
bool leads_on(record& next, const record& mine, record*& other) {
  if (next.seen || next.refused) return false;
  if (next.limited && !mine.limited) return false;  // it ends by itself, or gives up by itself
  next.seen = true;
  if (!leads_back(next, mine, other)) return false;
  if (other == nullptr && !next.must_end) other = &next;
  return true;
}

bool item_leads_back(const record& at, const record& mine, record*& other) {
  item& front = front_of(*at.awaited);
  int holder = -1;  // the device that has it
  if (is_unstarted(front)) {
    if (front.group == nullptr || front.in_arena) return false;  // the arena's threads will run it
    const int device = std::atomic_ref(front.device).load(std::memory_order_relaxed);
    if (device < 0) {
      // Steps before it have parts on this very device, behind what this stack holds.
      if (&at == &mine && front.is_step && holds(mine, front.stream)) return true;
      // Any device may take it, so the waiter itself would have, were it not too deep.
      return &at == &mine && front.group == mine.group && !mine.may_nest;
    }
    holder = device;
    const record* const waits = is_device(mine, front.group, holder) ? &mine : newest_of(front.group, holder);
    if (waits == nullptr) return false;  // it is free, or runs something
    // It will serve; this one too, where the item was queued after it had looked.
    if (waits->may_nest && !holds(*waits, front.stream)) return false;
  } else {
    holder = front.runner.load(std::memory_order_acquire) - 1;
    if (holder < 0) return false;  // about to run, or its callable has returned
  }
  if (is_device(mine, front.group, holder)) return true;
  record* const next = newest_of(front.group, holder);
  return next != nullptr && !next->serving && leads_on(*next, mine, other);  // or it goes on
}

// Each of the items has to end: also those below what a device thread serves.
bool drain_leads_back(const record& at, const record& mine, record*& other) {
  if (at.drained->books.pending() == 0) return false;
  return std::any_of(records.begin(), records.end(), [&](record& each) {
    if (each.group != at.drained) return false;
    const bool on_this_stack = &each == &mine || (mine.waiter != nullptr && each.waiter == mine.waiter);
    return on_this_stack || leads_on(each, mine, other);
  });
}

// Whether what `at` waits for cannot end before the wait `mine` does. Under the mutex.
bool leads_back(const record& at, const record& mine, record*& other) {
  return at.drained != nullptr ? drain_leads_back(at, mine, other) : item_leads_back(at, mine, other);
}

// Whether the wait `mine` closes a circle of threads each of which waits for the next; `other` is then a
// waiter of the circle that may give up in place of `mine`. Under the mutex, after `servable` found nothing.
bool closes_circle(const record& mine, record*& other) {
  for (auto& each : records) each.seen = false;
  return leads_back(mine, mine, other);
}

[[noreturn]] void refuse(const record& mine) {
  if (mine.drained != nullptr) {
    throw would_deadlock(
        "an item waits for the end of another scheduler whose items cannot end before the waiting one does: "
        "drain, join and destroy a scheduler outside of the items that its own items wait for");
  }
  const std::string label = label_of(*mine.awaited);
  throw would_deadlock("an item on device " + std::to_string(mine.waiter->identity().info.id) +
                       " waits for " + (label.empty() ? std::string("an item") : "item '" + label + "'") +
                       (mine.may_nest ? " that cannot end before the waiting one does"
                                      : ", but items wait inside one another " +
                                            std::to_string(deepest_wait) + " deep here already") +
                       ": continue with future::then, or wait outside of items");
}

// Throws where `mine` closes a circle, if it may give up; else another one does.
void refuse_circle(const record& mine) {
  if (mine.refused) refuse(mine);
  record* other = nullptr;
  if (!closes_circle(mine, other)) return;
  if (!mine.must_end || other == nullptr) refuse(mine);
  other->refused = true;
  nudge(*other->awaited);
}

}  // namespace

// One wait's record, as long as it lasts.
class entry {
 public:
  explicit entry(const record& made) {
    const std::lock_guard lock(mutex);
    place = records.insert(records.end(), made);
    entered.fetch_add(1, std::memory_order_seq_cst);
    try {
      if (made.drained != nullptr) refuse_circle(*place);  // before others see it, and give up for it
    } catch (...) {
      leave();
      throw;
    }
    // Others may be able to serve what this one waits for.
    for (const auto& each : records) {
      if (made.waiter == nullptr || each.waiter != made.waiter) nudge(*each.awaited);
    }
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    const std::lock_guard lock(mutex);
    leave();
  }

  std::list<record>::iterator place;

 private:
  void leave() noexcept {
    records.erase(place);
    entered.fetch_sub(1, std::memory_order_seq_cst);
  }
};

namespace {

record waits_on(device_thread& self, item& awaited) {
  return {&self, self.identity().group, &awaited, current().must_end, self.may_nest(), self.held_streams()};
}

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
  refuse_circle(mine);
  return nullptr;
}

constexpr auto shortest = std::chrono::microseconds(20);
constexpr auto longest = std::chrono::microseconds(1000);
constexpr auto for_ever = std::chrono::steady_clock::time_point::max();

// Runs an item, or lets stream work go on, or sleeps until the word differs from `seen`, `limit` at most.
void serve_or_sleep(record& mine, std::uint64_t seen, std::chrono::steady_clock::time_point limit,
                    std::chrono::microseconds& delay) {
  device_thread* const self = mine.waiter;
  if (item* const next = claim_servable(mine)) {
    self->begin_claimed(*next);
    self->run(*next, false);
    const std::lock_guard lock(mutex);
    mine.serving = false;
    return;
  }
  if (self != nullptr && self->poll()) {
    delay = shortest;
    return;
  }
  if (self != nullptr && self->in_flight() > 0) {
    limit = std::min<std::chrono::steady_clock::time_point>(limit, std::chrono::steady_clock::now() + delay);
    delay = std::min(delay * 2, longest);
  }
  if (limit == for_ever) {
    futex_wait(mine.awaited->word, seen);
  } else {
    futex_wait_until(mine.awaited->word, seen, limit);
  }
}

}  // namespace

void wait(device_thread& self, item& awaited) {
  const entry registered(waits_on(self, awaited));
  record& mine = *registered.place;
  auto delay = shortest;
  for (;;) {
    const std::uint64_t seen = announce_served_wait(awaited);  // first: what changes after it keeps us awake
    if (seen & item_flag::done) return;
    if (is_late(awaited) && is_unstarted(awaited) && cancel_as_late(awaited)) return;
    const bool may_be_late = awaited.extras && awaited.extras->deadline && is_unstarted(awaited);
    serve_or_sleep(mine, seen, may_be_late ? *awaited.extras->deadline : for_ever, delay);
  }
}

namespace {

// For an item that no queue ever holds: only its word is of use.
constexpr item_operations no_operations{};

// What the thread runs an item or a loop's body for, if it does.
const binding* innermost() noexcept {
  const binding* each = current().top;
  while (each != nullptr && each->kind == binding_kind::guard) each = each->previous;
  return each;
}

}  // namespace

struct end_wait::inside_item {
  inside_item(const binding& where, device_group& awaited, bool limited)
      : registered([&] {
          device_thread* const self = where.kind == binding_kind::device_thread ? current().own : nullptr;
          record made = self != nullptr
                            ? waits_on(*self, word)
                            : record{nullptr, where.device->group, &word, current().must_end, false, 0};
          made.drained = &awaited;
          made.limited = limited;
          claim(word);  // nobody takes it for one that could run
          return made;
        }()) {}

  item word{no_operations};
  const entry registered;
};

end_wait::end_wait(device_group& awaited, bool limited) : awaited_(awaited) {
  const binding* const where = innermost();
  if (where == nullptr) return;
  if (where->kind == binding_kind::device_thread) current().own->put_back_hand();
  inside_ = std::make_unique<inside_item>(*where, awaited, limited);
  awaited.books.watch_end(inside_->word);
}

end_wait::~end_wait() {
  if (inside_) awaited_.books.unwatch_end(inside_->word);
}

bool end_wait::until(std::chrono::steady_clock::time_point limit) {
  if (!inside_) return awaited_.books.drain_until(limit);
  auto delay = shortest;
  for (;;) {
    const std::uint64_t seen = announce_served_wait(inside_->word);
    auto next_look = limit;
    if (awaited_.books.is_idle_or_told(next_look)) return true;
    if (limit != for_ever && std::chrono::steady_clock::now() >= limit) return false;
    serve_or_sleep(*inside_->registered.place, seen, next_look, delay);
  }
}

[[gnu::noinline]] static void nudge_all() noexcept {
  const std::lock_guard lock(mutex);
  for (const auto& each : records) nudge(*each.awaited);
}

void notify() noexcept {
  if (entered.load(std::memory_order_seq_cst) != 0) nudge_all();
}

bool waits_also_for(item& awaited, item& part) noexcept try {
  const std::lock_guard lock(mutex);
  awaited.extras->waits_for_all.push_back(&part);
  for (const auto& each : records) nudge(*each.awaited);
  return true;
} catch (...) {
  return false;
}

void waits_no_more_for(item& awaited, std::size_t place) noexcept {
  const std::lock_guard lock(mutex);
  auto& all = awaited.extras->waits_for_all;
  all[place] = all.back();
  all.pop_back();
}

void after_claim_of_follower(item&) noexcept {
  if (entered.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex);  // whoever followed it has left
}

}  // namespace heddle::detail::wait_graph
