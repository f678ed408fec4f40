// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/detail/submission.hpp"
#include "heddle/future.hpp"
#include "heddle/when_all.hpp"
#include "loops/loop_parts.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"

namespace heddle::detail {

/// Submits an item that is a part of a loop. One that is not the first goes beyond the queue's capacity where
/// it may not wait for room, since a loop is refused whole or not at all; a `counted_loop` stands meanwhile.
template <class F>
future<void> submit_part(scheduler_core& core, const route& r, bool is_further, F f) {
  const auto start = [&](submission& admitted) {
    auto* const it = new typed_item<void, F>(std::move(f));
    auto handle = future_access::make<void>(*it);
    admitted.start(*it);
    return handle;
  };
  const bool may_not_wait =
      core.group.books.policy() == when_full::reject || on_own_device_thread() || on_arena_thread();
  if (is_further && may_not_wait) {
    submission admitted(core, r, along{});
    return start(admitted);
  }
  submission admitted(core, r);
  return start(admitted);
}

/// Counts a loop that works on the calling thread among what the scheduler's end waits for. Throws
/// `scheduler_stopped` once the scheduler is closed, but inside its items.
class counted_loop {
 public:
  counted_loop(scheduler_core&, const char* name);
  counted_loop(const counted_loop&) = delete;
  counted_loop& operator=(const counted_loop&) = delete;
  ~counted_loop() { core_.group.books.leave_call(); }

 private:
  scheduler_core& core_;
};

/// Waits for the part's end. What failed, or null.
std::exception_ptr wait_for_part(future<void>&) noexcept;

/// A future for the end of the items of `end.parts`, a shared loop_parts; cancelling it cancels these. Where
/// there cannot be one, since the scheduler was closed meanwhile, waits for them: what they refer to may go
/// once this has thrown.
template <class End>
future<void> join_parts(End end) {
  const std::shared_ptr<loop_parts> parts = end.parts;
  try {
    return join_all(parts->items(), std::move(end), [parts] { return parts->cancel(); });
  } catch (...) {
    for (auto& each : parts->take()) (void)wait_for_part(each);
    throw;
  }
}

}  // namespace heddle::detail
