// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <type_traits>
#include <utility>

#include "heddle/detail/launch.hpp"
#include "heddle/detail/operation.hpp"
#include "heddle/extents.hpp"

namespace heddle {

namespace detail {
class device_thread;
class device_allocation;
struct item_frame;

/// A range of memory of one device, as `device_buffer` is.
template <class R>
concept device_range = requires {
  typename std::remove_cvref_t<R>::device_memory;
};
/// Throws `invalid_option`, which names both devices, unless it is memory of the device of the item.
void check_memory(const char* what, const device_allocation&, const item_frame&);
}  // namespace detail

/// A point of a stream: reached once all work put on the stream before it is done. A plain value.
class event {
 public:
  event() noexcept = default;

 private:
  friend class stream;
  friend class device_context;
  int device_ = 0;
  int index_ = 0;
  std::uint64_t serial_ = 0;  // of the scheduler
  std::uint64_t mark_ = 0;    // 0: reached already
};

/// One in-order queue of a device, inside an item. A handle, cheap to copy; for the item's own thread and
/// time only: elsewhere its calls throw `invalid_option`. On host devices the work runs at the call, or later
/// on the device thread if `host_options::mode` is deferred; on GPUs it always may run later. What it refers
/// to must live until the item's stream work is done (`device_context::keep`).
///
/// What the work throws becomes the error of the item; later work of that item on the stream is left out.
class stream {
 public:
  /// Its number on the device, from 0.
  int index() const noexcept { return index_; }

  /// The gpu id of its device.
  int device_id() const noexcept;
  /// Whether its device is one of the CPU.
  bool on_host() const noexcept;
  /// Of its device; 0 on host devices.
  int multiprocessors() const noexcept;

  /// Calls `f()` in stream order, on the device thread, which may call CUDA. Does not block where the work on
  /// the stream is not done, or the mode is deferred.
  template <class F>
  void enqueue(F f) const {
    if (runs_at_once()) {
      f();
    } else {
      put(detail::operation(std::move(f)));
    }
  }

  /// Calls `body(i, args…)`, `body(y, x, args…)` or `body(z, y, x, args…)` for every index, in parallel, and
  /// in no order: in the arena of a host device, as a kernel on a GPU. Arguments are copied. A body that g++
  /// compiled runs on host devices only, and throws `no_device_code` on a GPU; a lambda marked `__device__`
  /// alone throws `invalid_option` on a host device.
  template <std::size_t Rank, class Body, class... Args, class Compiler = detail::this_compiler>
  void launch(extents<Rank> size, Body body, Args... args) const {
    detail::launcher<Compiler>::launch(*this, size, std::move(body), std::move(args)...);
  }
  template <std::integral N, class Body, class... Args, class Compiler = detail::this_compiler>
  void launch(N n, Body body, Args... args) const {
    detail::launcher<Compiler>::launch(*this, extents<1>(n), std::move(body), std::move(args)...);
  }

  /// Copies `source` to `target` in stream order: contiguous ranges of one trivially copyable type, of the
  /// host or of a device, which live until the item's stream work is done, so no temporaries. On a GPU a copy
  /// to or from host memory that is not pinned may block. Throws `invalid_option` if the sizes differ, or if
  /// a `device_buffer` is involved and none is on this device.
  template <std::ranges::contiguous_range Target, std::ranges::contiguous_range Source>
  requires std::ranges::borrowed_range<Target> && std::ranges::borrowed_range<Source>
  void copy(Target&& target, Source&& source) const {
    using T = std::ranges::range_value_t<Target>;
    static_assert(std::is_same_v<T, std::ranges::range_value_t<Source>>,
                  "copy needs ranges of one element type");
    static_assert(std::is_trivially_copyable_v<T>, "copy needs a trivially copyable element type");
    detail::check_copy_sizes(std::ranges::size(target), std::ranges::size(source));
    const std::size_t bytes = std::ranges::size(source) * sizeof(T);
    if constexpr (detail::device_range<Target> && detail::device_range<Source>) {
      put_copy_between(target.memory(), source.memory(), bytes);
    } else {
      if constexpr (detail::device_range<Target>) check_here("copy to a buffer", target.memory());
      if constexpr (detail::device_range<Source>) check_here("copy from a buffer", source.memory());
      put_copy(std::ranges::data(target), std::ranges::data(source), bytes);
    }
  }

  /// Calls `issue(native)` in stream order, `native` being the CUDA stream, for it to put device work there;
  /// at once where no host function is before it. Throws `invalid_option` on a host device.
  template <class F>
  void issue(F issue) const {
    put_issue(detail::operation(
        [native = native_for_issue(), issue = std::move(issue)]() mutable { issue(native); }));
  }

  /// The point behind all work put on it so far.
  event record() const;
  /// Work put on it from now on starts after `e`.
  void wait(const event& e) const;

 private:
  friend class device_context;
  stream(detail::device_thread& device, int index) noexcept : device_(&device), index_(index) {}
  bool runs_at_once() const;
  void put(detail::operation work) const;
  void* native_for_issue() const;
  void put_issue(detail::operation work) const;
  void refuse_elsewhere(const char* call) const;
  void put_copy(void* target, const void* source, std::size_t bytes) const;
  void check_here(const char* what, const detail::device_allocation&) const;
  void put_copy_between(const detail::device_allocation& target, const detail::device_allocation& source,
                        std::size_t bytes) const;

  detail::device_thread* device_;
  int index_;
};

}  // namespace heddle
