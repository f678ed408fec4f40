// SPDX-License-Identifier: Apache-2.0
#include "device/arena_observer.hpp"

#include <thread>

namespace heddle::detail {

arena_observer::arena_observer(tbb::task_arena& arena, const bound_device& device)
    : tbb::task_scheduler_observer(arena), device_(device) {
  observe(true);
}

arena_observer::~arena_observer() { observe(false); }

void arena_observer::on_scheduler_entry(bool) {
  inside_.fetch_add(1, std::memory_order_relaxed);
  push_binding(device_, current().own_device == &device_ ? binding_kind::device_thread : binding_kind::arena);
}

void arena_observer::on_scheduler_exit(bool) {
  pop_binding();
  inside_.fetch_sub(1, std::memory_order_release);
}

void arena_observer::end() noexcept {
  // Workers leave an arena without work by themselves within some 200 us.
  while (inside_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  observe(false);
}

}  // namespace heddle::detail
