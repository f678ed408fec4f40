// SPDX-License-Identifier: Apache-2.0
#include "heddle/map.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "heddle/error.hpp"
#include "heddle/imap.hpp"
#include "pure/placement.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"
#include "work/item.hpp"

namespace heddle::detail {

void first_failure::note(std::size_t position, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (error_ && position >= position_.load(std::memory_order_relaxed)) return;
  position_.store(position, std::memory_order_relaxed);
  error_ = std::move(error);
}

void first_failure::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

std::size_t map_chunk(const scheduler_core& core, std::size_t asked, std::size_t left, std::size_t calls) {
  return std::min(left, asked > 0 ? asked : next_chunk(left, calls, core.devices.size()));
}

std::size_t imap_items_ahead(const scheduler_core& core, const map_options& options) {
  const std::size_t chunk = std::max<std::size_t>(options.chunk, 1);
  if (options.ahead > 0) return std::max<std::size_t>(options.ahead / chunk, 1);
  return 2 * static_cast<std::size_t>(core.group.threads.front()->window_size()) * core.devices.size();
}

void refuse_wait_on_arena_thread(const char* call) {
  if (!on_arena_thread()) return;
  throw would_deadlock(
      std::string(call) +
      " waits for items, which a thread of a device's arena may not do: call it in an item on the device "
      "thread, or outside of items");
}

bool in_forked_child() noexcept { return is_forked_child(); }

void wait_to_the_end(item& it, std::exception_ptr& refusal) {
  const must_end uninterrupted;
  std::chrono::milliseconds pause{1};
  for (;;) {
    try {
      wait_until_ended(it);
      return;
    } catch (const would_deadlock&) {
      refusal = std::current_exception();
      cancel_by_future(it);
    }
    // It may be refused each time: to end this before the item does is no way out.
    if (wait_until_ended(it, std::chrono::steady_clock::now() + pause)) return;
    pause = std::min(2 * pause, std::chrono::milliseconds(100));
  }
}

}  // namespace heddle::detail
