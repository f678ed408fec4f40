// SPDX-License-Identifier: Apache-2.0
#include "device/device_allocation.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "device/item_frame.hpp"
#include "heddle/detail/device_allocation.hpp"
#include "heddle/device_context.hpp"
#include "heddle/error.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

std::size_t checked_bytes(int id, std::size_t count, std::size_t element_bytes) {
  if (count <= most_bytes / element_bytes) return count * element_bytes;
  throw out_of_device_memory(
      id,
      "allocation of " + std::to_string(count) + " elements of " + std::to_string(element_bytes) + " bytes",
      "more than any address space holds; check the count");
}

void* allocate_for_item(item_frame& frame, std::size_t bytes) {
  using clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::milliseconds(20);  // an item in flight may wait for this very one
  device_thread& device = frame.device;
  const stream_id on = device.stream(frame.stream);
  const auto limit = clock::now() + patience;
  for (;;) {
    try {
      return frame.group.seam->allocate(on, bytes);
    } catch (const out_of_device_memory&) {
      while (!device.poll()) {
        if (device.in_flight() == 0 || clock::now() > limit) throw;
        std::this_thread::yield();
      }
    }
  }
}

device_allocation::device_allocation(memory_kind kind, item_frame& frame, std::size_t count,
                                     std::size_t element_bytes)
    : owner_(frame.group.seam),
      kind_(kind),
      driver_device_(frame.device.stream(0).device),
      id_(frame.device.identity().info.id) {
  refuse_in_forked_child("a buffer");
  bytes_ = checked_bytes(id_, count, element_bytes);
  if (bytes_ == 0) return;
  if (kind == memory_kind::pinned) {
    memory_ = owner_->allocate_pinned(driver_device_, bytes_);
  } else if (frame.stream >= 0) {
    memory_ = allocate_for_item(frame, bytes_);
  } else {  // an arena item has no stream
    memory_ = owner_->allocate(driver_device_, bytes_);
  }
}

void device_allocation::release() noexcept {
  if (memory_ == nullptr || is_forked_child()) return;
  device_thread* const here = current().own;
  item_frame* const running = here != nullptr ? here->running() : nullptr;
  const bool in_item = running != nullptr && here->group().seam == owner_;
  try {
    if (kind_ == memory_kind::pinned) {
      if (in_item) {  // copies of the item may still use it
        auto give_back = [owner = owner_, device = driver_device_, bytes = bytes_](void* memory) {
          owner->deallocate_pinned(device, memory, bytes);
        };
        std::unique_ptr<void, decltype(give_back)> kept(memory_, std::move(give_back));
        memory_ = nullptr;
        keep_until_done(*running, operation([kept = std::move(kept)] {}));
      } else {
        owner_->deallocate_pinned(driver_device_, memory_, bytes_);
      }
    } else if (in_item && here->stream(0).device == driver_device_) {
      owner_->deallocate(here->stream(running->stream), memory_, bytes_);
    } else {
      owner_->deallocate(driver_device_, memory_, bytes_);
    }
  } catch (...) {  // no memory for the operation: `kept` has given it back
  }
}

}  // namespace heddle::detail
