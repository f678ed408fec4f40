// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/detail/device_allocation.hpp"
#include "heddle/device_context.hpp"
#include "heddle/scheduler.hpp"

namespace heddle {

/// Uninitialised host memory that a device's copies read and write without a detour, on the NUMA node of the
/// device where the machine has several; for elements of a trivially copyable type; owned, move-only, empty
/// when moved from. Pinning is slow, so freed memory is kept for the next buffer of the same scheduler. May
/// be destroyed on any thread, after the scheduler too: inside an item it is given back once the item's
/// stream work is done, elsewhere at once.
template <class T>
class pinned_buffer {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "pinned_buffer needs a trivially copyable element type: its elements move by copies of their bytes");
  static_assert(alignof(T) <= 256, "pinned_buffer aligns its elements to 256 bytes and no more");

 public:
  using value_type = T;

  pinned_buffer() noexcept = default;
  /// For the item of `context`. May block while it pins memory. Throws `out_of_device_memory`, which names
  /// the bytes wanted and free.
  pinned_buffer(const device_context& context, std::size_t size)
      : memory_(detail::memory_kind::pinned, context.frame(), size, sizeof(T)), size_(size) {}
  /// On any thread, for any item. Blocks while it allocates. Throws `invalid_option` for an unknown id, and
  /// `out_of_device_memory`.
  pinned_buffer(scheduler& s, int id, std::size_t size)
      : memory_(detail::memory_kind::pinned, s.core(), id, size, sizeof(T)), size_(size) {}
  pinned_buffer(pinned_buffer&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  pinned_buffer& operator=(pinned_buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~pinned_buffer() = default;

  /// Address on the host.
  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// The gpu id of its device; -1 if it was made empty or moved from.
  int device() const noexcept { return memory_.device(); }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + size_; }

 private:
  detail::device_allocation memory_;
  std::size_t size_ = 0;
};

}  // namespace heddle
