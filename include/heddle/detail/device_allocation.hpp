// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace heddle::detail {

class driver;
class scheduler_core;
struct item_frame;

enum class memory_kind { device, pinned };

/// Memory that belongs to a device, freed by any thread at any time, after the scheduler too: what it is
/// freed with lives as long as it does. Inside an item it is freed once the item's stream work is done.
class device_allocation {
 public:
  device_allocation() noexcept = default;
  /// For work of the item. Throws `out_of_device_memory`.
  device_allocation(memory_kind, item_frame&, std::size_t count, std::size_t element_bytes);
  /// For any work. Blocks while it allocates. Throws `invalid_option` for an unknown id, and the same.
  device_allocation(memory_kind, scheduler_core&, int id, std::size_t count, std::size_t element_bytes);
  device_allocation(device_allocation&& other) noexcept { swap(other); }
  device_allocation& operator=(device_allocation&& other) noexcept {
    device_allocation(std::move(other)).swap(*this);
    return *this;
  }
  ~device_allocation() { release(); }

  void* data() const noexcept { return memory_; }
  /// The gpu id; -1 if it never had memory.
  int device() const noexcept { return id_; }
  /// Whose devices it is of; null if it never had memory.
  const driver* owner() const noexcept { return owner_.get(); }
  /// The device's place there.
  int driver_device() const noexcept { return driver_device_; }

 private:
  void swap(device_allocation& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(kind_, other.kind_);
    std::swap(driver_device_, other.driver_device_);
    std::swap(id_, other.id_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }
  void release() noexcept;

  std::shared_ptr<driver> owner_;
  memory_kind kind_ = memory_kind::device;
  int driver_device_ = 0, id_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace heddle::detail
