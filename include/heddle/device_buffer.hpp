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

/// Uninitialised memory of one device for elements of a trivially copyable type; owned, move-only, empty when
/// moved from. May be destroyed on any thread, after the scheduler too: inside an item it is freed behind the
/// item's stream work, elsewhere at once, so that no work may use it any more then. Distinct buffers may be
/// used by several threads at once, one buffer only for reading. On a GPU its elements are for kernels and
/// copies, not for the host.
template <class T>
class device_buffer {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "device_buffer needs a trivially copyable element type: its elements move by copies of their bytes");
  static_assert(alignof(T) <= 256, "device_buffer aligns its elements to 256 bytes and no more");

 public:
  using value_type = T;
  using device_memory = T;  // what `stream::copy` knows it by

  device_buffer() noexcept = default;
  /// For the item of `context`. Does not block. Throws `out_of_device_memory`, which names the bytes wanted
  /// and free.
  device_buffer(const device_context& context, std::size_t size)
      : memory_(detail::memory_kind::device, context.frame(), size, sizeof(T)), size_(size) {}
  /// On any thread, for any item. Blocks while it allocates. Throws `invalid_option` for an unknown id, and
  /// `out_of_device_memory`.
  device_buffer(scheduler& s, int id, std::size_t size)
      : memory_(detail::memory_kind::device, s.core(), id, size, sizeof(T)), size_(size) {}
  device_buffer(device_buffer&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~device_buffer() = default;

  /// Address on the device.
  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// The gpu id of its device; -1 if it was made empty or moved from.
  int device() const noexcept { return memory_.device(); }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + size_; }

  /// Its elements, for a loop body or kernel in an item of its device. Throws `invalid_option` elsewhere,
  /// which names both devices.
  std::span<T> view(const device_context& context) const {
    if (!empty()) detail::check_memory("view of a buffer", memory_, context.frame());
    return {data(), size_};
  }

  const detail::device_allocation& memory() const noexcept { return memory_; }

 private:
  detail::device_allocation memory_;
  std::size_t size_ = 0;
};

}  // namespace heddle
