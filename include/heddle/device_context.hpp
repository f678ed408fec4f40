// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/task_arena.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/device_info.hpp"
#include "heddle/stream.hpp"

namespace heddle {

namespace detail {
struct item_frame;
void* allocate_scratch(item_frame&, std::size_t count, std::size_t element_bytes);
void keep_until_done(item_frame&, operation owner);
}  // namespace detail

/// What an item sees of its device. Valid inside the item, on the item's own thread. An arena item
/// (`route::in_arena`) has no stream: there everything on streams, and `scratch`, throws `invalid_option`.
class device_context {
 public:
  explicit device_context(detail::item_frame& frame) noexcept : frame_(frame) {}
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

  /// The gpu id; the same as this_device::id().
  int id() const noexcept;
  const device_info& info() const noexcept;
  /// The label of the item's route.
  std::string label() const;
  /// The arena of the device, for host-side parallel work. A plain tbb::parallel_for runs in it already.
  tbb::task_arena& arena() const noexcept;
  /// Tells a request of the route's token, or of `scheduler::cancel`.
  std::stop_token stop_token() const;

  /// The item's stream: the future is ready once the work on it is done.
  heddle::stream stream() const;
  /// Another stream of the device, from 0: work put there counts for the item only after `join`; without it,
  /// a failure of that work goes to `on_error`.
  heddle::stream stream(int index) const;
  int stream_count() const noexcept;
  /// The CUDA stream. Throws `invalid_option` on host devices.
  void* native_stream() const;

  /// Shorthands for the item's stream; see `heddle::stream`.
  template <class F>
  void enqueue(F f) const {
    stream().enqueue(std::move(f));
  }
  template <class Size, class Body, class... Args, class Compiler = detail::this_compiler>
  void launch(Size size, Body body, Args... args) const {
    stream().launch(size, std::move(body), std::move(args)...);
  }
  template <class Target, class Source>
  void copy(Target&& target, Source&& source) const {
    stream().copy(std::forward<Target>(target), std::forward<Source>(source));
  }
  event record() const { return stream().record(); }
  void wait(const event& e) const { stream().wait(e); }
  /// The item's stream, and so its future, waits for all work put on `other` so far.
  void join(const heddle::stream& other) const;

  /// Owns `object` until the item's stream work is done; it dies on the device thread before the future is
  /// ready.
  template <class T>
  T& keep(T object) const {
    auto owner = std::make_unique<T>(std::move(object));
    T& kept = *owner;
    detail::keep_until_done(frame_, detail::operation([owner = std::move(owner)] {}));
    return kept;
  }
  /// Uninitialised memory of the device for `count` elements, of the same life. Throws
  /// `out_of_device_memory`.
  template <class T>
  requires(std::is_trivially_copyable_v<T> && alignof(T) <= 256) std::span<T> scratch(std::size_t count)
  const { return {static_cast<T*>(detail::allocate_scratch(frame_, count, sizeof(T))), count}; }
  /// Blocks until all work on the item's stream is done, and throws what it threw. Serves nothing meanwhile.
  void sync() const;

  detail::item_frame& frame() const noexcept { return frame_; }

 private:
  detail::item_frame& frame_;
};

}  // namespace heddle
