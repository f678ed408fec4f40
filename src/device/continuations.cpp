// SPDX-License-Identifier: Apache-2.0
#include "device/continuations.hpp"

#include <atomic>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "work/current.hpp"

namespace heddle::detail {

void queue_follower(continuation& what, int device) noexcept {
  auto& follower = static_cast<item&>(what);
  if (follower.device == same_device) {
    // An index of another scheduler's devices, or none, says nothing here.
    const auto count = static_cast<int>(follower.group->threads.size());
    // Who waits for it may be looking at it already; see wait_graph.cpp.
    std::atomic_ref(follower.device)
        .store(device >= 0 && device < count ? device : -1, std::memory_order_relaxed);
  }
  follower.group->books.queue_waiting();
  device_thread* const here = current().own;
  const bool is_own = here != nullptr && &here->group() == follower.group;
  if (is_own && here->take_over(follower)) return;
  // Once it is queued it may end, and its scheduler with it, while this thread of another one is in there.
  const auto kept = is_own ? nullptr : follower.group->alive.lock();
  follower.group->dispatch(follower);
}

bool attach_to_stream(item& it, item& follower) noexcept {
  // Said first, so that who ends the item looks for followers unless its end came before.
  if (it.word.fetch_or(item_flag::streamed, std::memory_order_acq_rel) & item_flag::done) return false;
  continuation* old = it.on_stream.load(std::memory_order_acquire);
  do {
    if (old == &stream_followers_closed) return false;
    follower.next = old;
  } while (!it.on_stream.compare_exchange_weak(old, &follower, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
  return true;
}

item* close_stream_followers(item& it) noexcept {
  if ((it.word.load(std::memory_order_acquire) & item_flag::streamed) == 0) return nullptr;
  continuation* newest = it.on_stream.exchange(&stream_followers_closed, std::memory_order_acq_rel);
  item* in_order = nullptr;
  while (newest != nullptr && newest != &stream_followers_closed) {
    auto* const follower = static_cast<item*>(newest);
    newest = follower->next;
    follower->next = in_order;
    in_order = follower;
  }
  return in_order;
}

}  // namespace heddle::detail
