// SPDX-License-Identifier: Apache-2.0
#include "device/arena_lane.hpp"

#include <thread>
#include <vector>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"

namespace heddle::detail {

bool arena_lane::offer() noexcept {
  {
    const std::lock_guard lock(mutex_);
    // Nothing waits for the lane any more once the scheduler has stopped, and nobody would wait for its
    // worker.
    if (running_ >= limit_ || group_.stopping.load(std::memory_order_seq_cst)) return false;
    ++running_;
  }
  arena_.enqueue([this] { work(); });
  return true;
}

bool arena_lane::idle() noexcept {
  const std::lock_guard lock(mutex_);
  return running_ == 0;
}

void arena_lane::wait_until_idle() noexcept {
  while (!idle()) std::this_thread::yield();
}

item* arena_lane::take() {
  std::vector<queue_head> heads;
  const std::lock_guard own(waiting.mutex);
  waiting.sort_arrivals();
  waiting.heads(heads);
  const std::size_t own_heads = heads.size();
  std::unique_lock shared(group_.shared_arena.mutex, std::defer_lock);
  if (device_.enabled()) {
    shared.lock();
    group_.shared_arena.sort_arrivals();
    group_.shared_arena.heads(heads);
  }
  const auto chosen = pick(heads, starts_);
  if (!chosen) return nullptr;
  ++starts_;
  return *chosen < own_heads ? &waiting.take(*chosen) : &group_.shared_arena.take(*chosen - own_heads);
}

void arena_lane::work() noexcept {
  for (;;) {
    while (item* const it = take()) {
      if (!device_.begin(*it)) continue;
      item_frame frame{*it, device_, group_};
      device_.call(frame);
      device_.finish(*it, true);
    }
    group_.books.tell_end();
    const std::lock_guard lock(mutex_);
    --running_;
    // Work that came after the last look, and whose offer found all places taken, would be left lying.
    if (!waiting.nonempty() && !(device_.enabled() && group_.shared_arena.nonempty())) return;
    ++running_;
  }
}

}  // namespace heddle::detail
