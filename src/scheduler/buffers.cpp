// SPDX-License-Identifier: Apache-2.0
#include "device/device_allocation.hpp"
#include "heddle/detail/device_allocation.hpp"
#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

device_allocation::device_allocation(memory_kind kind, scheduler_core& core, int id, std::size_t count,
                                     std::size_t element_bytes)
    : owner_(core.group.seam), kind_(kind), id_(id) {
  refuse_in_forked_child("a buffer");
  driver_device_ = core.at(id).stream(0).device;
  bytes_ = checked_bytes(id, count, element_bytes);
  if (bytes_ == 0) return;
  memory_ = kind == memory_kind::pinned ? owner_->allocate_pinned(driver_device_, bytes_)
                                        : owner_->allocate(driver_device_, bytes_);
}

}  // namespace heddle::detail
