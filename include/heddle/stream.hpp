// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <type_traits>
#include <utility>

#include "heddle/detail/host_loop.hpp"
#include "heddle/detail/operation.hpp"
#include "heddle/extents.hpp"

namespace heddle {

namespace detail {
class device_thread;
}

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
/// time only. On host devices the work runs at the call, or later on the device thread if
/// `host_options::mode` is deferred: what it refers to must live until the item's stream work is done
/// (`device_context::keep`).
///
/// What the work throws becomes the error of the item; later work of that item on the stream is left out.
class stream {
 public:
  /// Its number on the device, from 0.
  int index() const noexcept { return index_; }

  /// Calls `f()` in stream order. Does not block where the mode is deferred.
  template <class F>
  void enqueue(F f) const {
    if (runs_at_once()) {
      f();
    } else {
      put(detail::operation(std::move(f)));
    }
  }

  /// Calls `body(i, args…)`, `body(y, x, args…)` or `body(z, y, x, args…)` for every index, in parallel in
  /// the arena of the device, and in no order. Arguments are copied.
  template <std::size_t Rank, class Body, class... Args>
  void launch(extents<Rank> size, Body body, Args... args) const {
    enqueue([size, body = std::move(body), ... args = std::move(args)] {
      detail::host_loop(size, [&](auto... indices) { body(indices..., args...); });
    });
  }
  template <std::integral N, class Body, class... Args>
  void launch(N n, Body body, Args... args) const {
    launch(extents<1>(n), std::move(body), std::move(args)...);
  }

  /// Copies `source` to `target` in stream order: contiguous ranges of one trivially copyable type, which
  /// live until the item's stream work is done, so no temporaries. Throws `invalid_option` if the sizes
  /// differ.
  template <std::ranges::contiguous_range Target, std::ranges::contiguous_range Source>
  requires std::ranges::borrowed_range<Target> && std::ranges::borrowed_range<Source>
  void copy(Target&& target, Source&& source) const {
    using T = std::ranges::range_value_t<Target>;
    static_assert(std::is_same_v<T, std::ranges::range_value_t<Source>>,
                  "copy needs ranges of one element type");
    static_assert(std::is_trivially_copyable_v<T>, "copy needs a trivially copyable element type");
    detail::check_copy_sizes(std::ranges::size(target), std::ranges::size(source));
    enqueue([to = std::ranges::data(target), from = std::ranges::data(source),
             bytes = std::ranges::size(source) * sizeof(T)] {
      if (bytes != 0) std::memmove(to, from, bytes);
    });
  }

  /// The point behind all work put on it so far.
  event record() const;
  /// Work put on it from now on starts after `e`.
  void wait(const event& e) const;

 private:
  friend class device_context;
  stream(detail::device_thread& device, int index) noexcept : device_(&device), index_(index) {}
  bool runs_at_once() const noexcept;
  void put(detail::operation work) const;

  detail::device_thread* device_;
  int index_;
};

}  // namespace heddle
