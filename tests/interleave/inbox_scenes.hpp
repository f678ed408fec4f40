// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "device/inbox.hpp"
#include "device/sleepers.hpp"
#include "interleave/explorer.hpp"
#include "interleave/stepped_word.hpp"

namespace heddle::interleave {

// An item that is only queued, never run.
struct numbered : detail::item {
  numbered(std::size_t the_producer, std::size_t the_number)
      : item(nothing), producer(the_producer), number(the_number) {}
  std::size_t producer, number;
  static constexpr detail::item_operations nothing{};
};

/// An inbox, who pushes into it, and what the consumer has got.
template <class Inbox>
class scene {
 public:
  Inbox box;

  numbered& make(std::size_t producer) { return items_.emplace_back(producer, made_[producer]++); }
  void push(numbered& it) {
    if (box.push(it)) box.wake();
  }

  bool has_all() const { return taken_ == items_.size(); }
  void take() { got(box.take()); }
  void got(detail::continuation* newest) {
    std::vector<numbered*> in_order;
    for (auto* it = newest; it != nullptr; it = it->next) {
      in_order.insert(in_order.begin(), static_cast<numbered*>(it));
    }
    for (numbered* const it : in_order) {
      if (it->number != next_[it->producer]++)
        fail("an item came twice, or before an older one of its producer");
      ++taken_;
    }
  }

  /// Each park was ended by one thread, which, if it was not the consumer, made the call that wakes: each of
  /// its calls for one park.
  void check_parks(std::size_t consumer) const {
    std::size_t parks = 0, ended = 0;
    std::map<std::size_t, int> owed;  // by each thread
    for (const step& each : steps()) {
      if (each.word != static_cast<const void*>(&box)) continue;
      if (each.before == 0 && each.after == 1) ++parks;
      if (each.before == 1 && each.after != 1) {
        ++ended;
        if (each.thread != consumer) ++owed[each.thread];
      }
      if (each.what == std::string_view("wake") && --owed[each.thread] < 0) fail("a wake that nobody needs");
    }
    if (parks != ended) fail("a park was ended never, or twice");
    for (const auto& [thread, count] : owed) {
      if (count != 0) fail("who ended a park has not woken");
    }
  }

  void check(std::size_t consumer) const {
    if (!has_all()) fail("an item is lost");
    check_parks(consumer);
  }

 private:
  std::deque<numbered> items_;
  std::map<std::size_t, std::size_t> made_, next_;  // of each producer
  std::size_t taken_ = 0;
};

/// Two producers, which push twice each, and a consumer that sleeps while there is
/// nothing.
template <class Inbox>
program pushes_and_sleep() {
  auto s = std::make_shared<scene<Inbox>>();
  numbered &first = s->make(0), &second = s->make(0), &older = s->make(1), &newer = s->make(1);
  return {{
              [s, &first, &second] {
                s->push(first);
                s->push(second);
              },
              [s, &older, &newer] {
                s->push(older);
                s->push(newer);
              },
              [s] {
                for (;;) {
                  s->take();
                  if (s->has_all()) return;
                  if (s->box.try_park()) s->box.sleep();
                }
              },
          },
          [s] { s->check(2); }};
}

/// A producer, somebody who pokes the consumer to make it leave, and the consumer.
template <class Inbox>
program pushes_and_pokes() {
  auto s = std::make_shared<scene<Inbox>>();
  auto stopping = std::make_shared<stepped<bool>>(false);
  numbered &first = s->make(0), &second = s->make(0);
  return {{
              [s, &first, &second] {
                s->push(first);
                s->push(second);
              },
              [s, stopping] {
                s->box.poke();
                stopping->store(true);
                s->box.poke();
              },
              [s, stopping] {
                for (;;) {
                  s->take();
                  if (s->has_all() && stopping->load()) return;
                  if (!s->box.try_park()) continue;
                  if (s->has_all() && stopping->load()) {  // the last look
                    s->box.unpark();
                  } else {
                    s->box.sleep();
                  }
                }
              },
          },
          [s] { s->check(2); }};
}

/// Two producers, and a consumer that sleeps with a time limit, as beside work in flight.
template <class Inbox>
program pushes_and_pauses() {
  auto s = std::make_shared<scene<Inbox>>();
  numbered &first = s->make(0), &second = s->make(0), &other = s->make(1);
  return {{
              [s, &first, &second] {
                s->push(first);
                s->push(second);
              },
              [s, &other] { s->push(other); },
              [s] {
                for (;;) {
                  s->take();
                  if (s->has_all()) return;
                  if (!s->box.try_park()) continue;
                  s->box.sleep_until(std::chrono::steady_clock::time_point::max());
                  s->box.unpark();
                }
              },
          },
          [s] { s->check(2); }};
}

enum class lies_down { before_the_last_look, after_it, before_it_parks };

/// A device with an inbox of its own beside a shared one, which lies down before it looks there a last time.
/// One thread pushes to both, one twice to the shared one; they call the device unless it is on its way. See
/// device_thread::park and device_group::wake_for_shared.
template <class Inbox, lies_down When = lies_down::before_the_last_look>
program shared_pushes_and_sleep() {
  auto own = std::make_shared<scene<Inbox>>();
  auto shared = std::make_shared<scene<Inbox>>();
  auto resting = std::make_shared<detail::basic_sleepers<stepped>>(1);
  numbered &pinned = own->make(0), &first = shared->make(0), &second = shared->make(0),
           &other = shared->make(1);
  const auto push = [own, shared, resting](numbered& it) {
    shared->push(it);
    if (resting->call(1)) own->box.poke();
  };
  return {{
              [own, push, &pinned, &other] {
                own->push(pinned);
                push(other);
              },
              [push, &first, &second] {
                push(first);
                push(second);
              },
              [own, shared, resting] {
                for (;;) {
                  own->take();
                  shared->take();
                  if (own->has_all() && shared->has_all()) return;
                  if (When == lies_down::before_it_parks) resting->lie_down(0);
                  const bool parks = own->box.try_park();
                  if (When == lies_down::before_the_last_look && parks) resting->lie_down(0);
                  const bool work = parks && !shared->box.empty();
                  if (When == lies_down::after_it && parks) resting->lie_down(0);
                  if (work) {
                    own->box.unpark();
                  } else if (parks) {
                    own->box.sleep();
                  }
                  if (parks || When == lies_down::before_it_parks) resting->get_up(0);
                }
              },
          },
          [own, shared] {
            own->check(2);
            shared->check(2);
          }};
}

}  // namespace heddle::interleave
