// SPDX-License-Identifier: Apache-2.0
// How a device thread runs an item, and what it has in flight on its streams afterwards.
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/continuations.hpp"
#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "device/wait_graph.hpp"
#include "heddle/device_context.hpp"
#include "heddle/error.hpp"
#include "pure/placement.hpp"

namespace heddle::detail {

// What few items need stands in functions of their own that are not inlined, so that what each item passes
// through is short.

[[gnu::noinline]] void device_thread::cancel_if_due(item& it) {
  if (it.ticket < group_.cancel_before.load(std::memory_order_acquire) && is_unstarted(it)) {
    cancel_as_asked(it, "scheduler::cancel");
  }
  if (it.extras && is_late(it) && is_unstarted(it)) cancel_as_late(it);
}

bool device_thread::begin(item& it) {
  if (it.ticket < group_.cancel_before.load(std::memory_order_acquire) || it.extras) cancel_if_due(it);
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
  if (it.extras) note_start(*it.extras);
}

[[gnu::noinline]] void device_thread::note_start(item_extras& extras) noexcept {
  extras.on_stop.reset();
  if (extras.times) extras.times->started = std::chrono::steady_clock::now();
}

[[gnu::noinline]] void device_thread::note_end(item_extras& extras) noexcept {
  if (extras.times) extras.times->done = std::chrono::steady_clock::now();
}

[[gnu::noinline]] void device_thread::dispose(item& it) noexcept {
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
  const auto run = [&] {
    device_context context(frame);
    try {
      it.operations().run(it, context);
    } catch (...) {
      it.error = std::current_exception();
    }
  };
  // Isolated: a thread that waits in an inner loop of the callable must not run a foreign body in the middle
  // of it. What a device thread runs outside of other items is isolated as a whole: see `main`.
  if (frame.below == nullptr && !it.in_arena) return run();
  tbb::this_task_arena::isolate(run);
}

void device_thread::finish(item& it, bool from_queue) noexcept {
  destroy_captures(it);
  tally& mine = counts(it);
  if (it.error) mine.fail();
  if (it.extras) note_end(*it.extras);
  publish(it, from_queue);
  mine.end();
}

int device_thread::choose_stream(const item& it) {
  if (it.stream >= 0) return it.stream;
  if (urgent_ >= 0 && it.priority > 0) return urgent_;
  const std::size_t count = streams_.size() - (urgent_ >= 0 ? 1 : 0);  // the urgent one is the last
  const std::size_t chosen =
      flights_ == 0 ? next_stream_ : next_stream(std::span(depths_).first(count), next_stream_);
  next_stream_ = chosen + 1 == count ? 0 : chosen + 1;
  return static_cast<int>(chosen);
}

void device_thread::run(item& it, bool from_queue) {
  item_frame frame{it, *this, group_, choose_stream(it), 0, 0, top_};
  thread_state& state = current();
  top_ = &frame;
  ++depth_;
  it.runner.store(static_cast<std::int16_t>(identity_.index + 1), std::memory_order_release);
  const bool must_end_below =
      std::exchange(state.must_end, false);  // of the item that waits, not of this one
  call(frame);
  repair_current(frame);
  item_list followers;
  if (item* const first = close_stream_followers(it)) run_stream_followers(frame, first, followers);
  state.must_end = must_end_below;
  it.runner.store(0, std::memory_order_relaxed);
  --depth_;
  top_ = frame.below;
  // One mark for all of them: they ended their work on the same stream one after another.
  const std::uint64_t mark = it.host_only && followers.head == nullptr
                                 ? 0
                                 : group_.seam->record(stream(frame.stream), mark_kind::end_of_item);
  watch_other_streams(frame);
  land(it, frame.stream, mark, from_queue);
  while (item* const follower = followers.pop()) land(*follower, frame.stream, mark, true);
}

void device_thread::land(item& it, int on, std::uint64_t mark, bool from_queue) {
  const auto k = static_cast<std::size_t>(on);
  if (mark == 0 && (it.stream < 0 || streams_[k].empty())) {
    finish(it, from_queue);
  } else {
    put_in_flight(k, {&it, mark, from_queue, {}});
  }
}

[[gnu::noinline]] void device_thread::put_in_flight(std::size_t on, flight f) {
  streams_[on].push_back(std::move(f));
  ++depths_[on];
  ++flights_;
}

[[gnu::noinline]] void device_thread::watch_touched_streams(const item_frame& frame) {
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    if ((frame.touched >> k & 1) == 0 || static_cast<int>(k) == frame.stream) continue;
    const std::uint64_t mark = group_.seam->record(stream(static_cast<int>(k)), mark_kind::end_of_item);
    if (mark == 0) continue;
    const bool counted = (frame.joined >> k & 1) != 0;  // then the item itself tells the failure
    std::string label = label_of(frame.running);
    put_in_flight(k, {nullptr, mark, false, counted ? std::nullopt : std::optional(std::move(label))});
  }
}

[[gnu::noinline]] void device_thread::run_stream_followers(item_frame& frame, item* first,
                                                           item_list& followers) {
  for (item* next = first; next != nullptr;) {
    item& follower = *next;
    next = static_cast<item*>(follower.next);
    group_.books.queue_waiting();
    if (!begin(follower)) continue;
    follower.stream = static_cast<std::int16_t>(frame.stream);
    item_frame inner{follower, *this, group_, frame.stream, 0, 0, frame.below};
    call(inner);
    repair_current(inner);
    watch_other_streams(inner);
    // Its own come before those that follow what it follows.
    if (item* const own = close_stream_followers(follower)) {
      item* last = own;
      while (last->next != nullptr) last = static_cast<item*>(last->next);
      last->next = std::exchange(next, own);
    }
    followers.append(follower);
  }
}

[[gnu::noinline]] bool device_thread::poll_streams() {
  bool progressed = group_.seam->advance(setup_.driver_device);
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    while (!streams_[k].empty()) {
      const auto ended = group_.seam->query(stream(static_cast<int>(k)), streams_[k].front().mark);
      if (!ended) break;
      const flight oldest = std::move(streams_[k].front());
      streams_[k].pop_front();
      --depths_[k];
      --flights_;
      if (oldest.it != nullptr) {
        if (*ended && !oldest.it->error) oldest.it->error = *ended;
        finish(*oldest.it, oldest.from_queue);
      } else if (*ended && oldest.unjoined) {
        report_unjoined(*ended, static_cast<int>(k), *oldest.unjoined);
      }
      progressed = true;
    }
  }
  return progressed;
}

void device_thread::repair_current(const item_frame& frame) noexcept {
  // What follows on this thread would go to another device.
  if (!group_.seam->still_current(setup_.driver_device)) report_repair(frame);
}

[[gnu::noinline]] void device_thread::report_repair(const item_frame& frame) noexcept {
  const int id = identity_.info.id;
  try {
    const std::string label = label_of(frame.running);
    const std::string message =
        "an item" + (label.empty() ? std::string() : " '" + label + "'") + " of device " +
        std::to_string(id) +
        " left another CUDA device or context current on its thread; heddle has made its own current again";
    group_.sink->report(
        {std::make_exception_ptr(device_error(id, "the check after an item", message)), id, label, message});
  } catch (...) {  // no memory for the report
  }
}

void device_thread::report_unjoined(const std::exception_ptr& error, int stream, const std::string& label) {
  const int id = identity_.info.id;
  group_.sink->report({error, id, label,
                       "work on stream " + std::to_string(stream) + " of device " + std::to_string(id) +
                           (label.empty() ? std::string() : ", put there by item '" + label + "',") +
                           " failed, and its item did not join it: " + text_of(error)});
}

}  // namespace heddle::detail
