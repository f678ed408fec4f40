// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/device_info.hpp"
#include "work/prefetch.hpp"

namespace heddle::detail {

class device_group;
class device_thread;

/// A device as other code sees it through the thread that acts for it.
struct bound_device {
  device_info info;
  int index = 0;  // place in the scheduler
  device_group* group = nullptr;
  std::uint64_t group_serial = 0;
};

enum class binding_kind { device_thread, arena, guard };

/// One entry of the thread's stack of bindings. A stack, since a thread that goes from arena A to B and back
/// to A meets A's entry again with no exit between: what was there must come back each time.
struct binding {
  const bound_device* device = nullptr;
  binding_kind kind = binding_kind::guard;
  binding* previous = nullptr;
  bool entered = false;  // the driver was told, and has to be told of the end
};

/// How a device thread waits for an item: set by the device layer, called by the work layer.
struct wait_service {
  void (*serve_until_ended)(device_thread&, item&);
};

/// What this thread is. Trivially destructible, so that it can be read until the thread's very end.
struct thread_state {
  binding* top = nullptr;                    // whom it acts for now
  device_thread* own = nullptr;              // the device thread that it is
  const bound_device* own_device = nullptr;  // set with own
  const wait_service* waiting = nullptr;     // set with own
  bool woke_a_device = false;                // since it waited last
  std::uint64_t last_ticket = 0;             // that it drew
  passed<item> submitted;                    // items
  bool must_end = false;                     // a wait may not be given up for a circle; another one of it is
};

thread_state& current() noexcept;

/// While it lives, waits of this thread go on until the item has ended: for callers whose stack the item
/// refers to.
class must_end {
 public:
  must_end() noexcept : before_(current().must_end) { current().must_end = true; }
  must_end(const must_end&) = delete;
  must_end& operator=(const must_end&) = delete;
  ~must_end() { current().must_end = before_; }

 private:
  bool before_;
};

void push_binding(const bound_device&, binding_kind);
void pop_binding() noexcept;

/// The device that this thread acts for; null if none.
const bound_device* bound() noexcept;

/// Whether it is a device thread acting for its own device: only there may a wait serve other items.
bool on_own_device_thread() noexcept;

/// Whether it is in the arena of a device without being its device thread: there a wait could block the
/// arena.
bool on_arena_thread() noexcept;

}  // namespace heddle::detail
