// SPDX-License-Identifier: Apache-2.0
#include "heddle/memory_resource.hpp"

#include <string>

#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace {

void check_alignment(std::size_t alignment) {
  if (alignment <= 256) return;
  throw invalid_option(
      "device_resource: an alignment of " + std::to_string(alignment) +
      " bytes; memory of devices is aligned to 256: ask for more bytes and align inside them");
}

}  // namespace

device_resource::device_resource(scheduler& s, int id)
    : owner_(s.core().group.seam), driver_device_(s.core().at(id).stream(0).device), id_(id) {}

void* device_resource::allocate(std::size_t bytes, std::size_t alignment) {
  detail::refuse_in_forked_child("device_resource::allocate");
  check_alignment(alignment);
  return bytes == 0 ? nullptr : owner_->allocate(driver_device_, bytes);
}

void device_resource::deallocate(void* memory, std::size_t bytes, std::size_t) noexcept {
  if (memory != nullptr && !detail::is_forked_child()) owner_->deallocate(driver_device_, memory, bytes);
}

void* device_resource::allocate_for(void* native, std::size_t bytes, std::size_t alignment) {
  detail::refuse_in_forked_child("device_resource::allocate_async");
  check_alignment(alignment);
  return bytes == 0 ? nullptr : owner_->allocate_for(driver_device_, native, bytes);
}

void device_resource::deallocate_for(void* native, void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr || detail::is_forked_child()) return;
  owner_->deallocate_for(driver_device_, native, memory, bytes);
}

}  // namespace heddle
