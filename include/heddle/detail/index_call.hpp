// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "heddle/detail/loop_argument.hpp"
#include "heddle/detail/loop_body.hpp"
#include "heddle/detail/piece_body.hpp"
#include "heddle/device_context.hpp"
#include "heddle/extents.hpp"

namespace heddle::detail {

template <std::size_t Rank>
loop_shape shape_of(const extents<Rank>& size) noexcept {
  if constexpr (Rank == 1) {
    return {};
  } else if constexpr (Rank == 2) {
    return {size[1], size[1] * size[0]};
  } else {
    return {size[2], size[2] * size[1]};
  }
}

/// Indices that a part of a loop should not be cut within, where there are many of them: a row, or a plane.
template <std::size_t Rank>
std::int64_t row_size(const extents<Rank>& size) noexcept {
  return size.size() == 0 ? 1 : size.size() / size[0];
}

/// A body for the caller's own loop over a part: a copy, so that the compiler knows that what the body writes
/// is not the body, unless copying could cost.
template <class Body>
using looped_body =
    std::conditional_t<std::is_trivially_copyable_v<Body> && sizeof(Body) <= 256, const Body, const Body&>;

/// Calls `body(indices…, seen…)` for every flat index of a part, on this thread, in order.
template <std::size_t Rank, class Body, class... Seen>
void call_for_part(const extents<Rank>& size, index_range part, const Body& given, Seen... seen) {
  looped_body<Body> body = given;
  if constexpr (Rank == 1) {
    for (std::int64_t i = part.begin; i < part.end; ++i) body(i, seen...);
  } else if constexpr (Rank == 2) {
    const std::int64_t nx = size[1];
    std::int64_t y = part.begin / nx;
    std::int64_t x = part.begin % nx;
    for (std::int64_t left = part.end - part.begin; left > 0; ++y, x = 0) {
      const std::int64_t row_end = std::min(nx, x + left);
      left -= row_end - x;
      for (; x < row_end; ++x) body(y, x, seen...);
    }
  } else {
    const std::int64_t nx = size[2];
    std::int64_t x = part.begin % nx;
    std::int64_t y = part.begin / nx % size[1];
    std::int64_t z = part.begin / nx / size[1];
    for (std::int64_t left = part.end - part.begin; left > 0; x = 0) {
      const std::int64_t row_end = std::min(nx, x + left);
      left -= row_end - x;
      for (; x < row_end; ++x) body(z, y, x, seen...);
      if (++y == size[1]) y = 0, ++z;
    }
  }
}

/// The arguments of a loop, and the views of them that its parts get.
template <class... Args>
class loop_arguments {
 public:
  explicit loop_arguments([[maybe_unused]] std::size_t places, const Args&... args)
      : values_(args...), shared_(typename loop_argument<Args>::shared(args, places)...) {}

  static constexpr std::int64_t moved_bytes = (std::int64_t{0} + ... + loop_argument<Args>::moved_bytes);
  static constexpr bool borrows = (false || ... || loop_argument<Args>::borrows);

  /// `f(seen…)` with what a body sees on the host.
  template <class F>
  void on_host(index_range part, loop_shape shape, F&& f) const {
    on_host(std::index_sequence_for<Args...>(), part, shape, f);
  }
  /// The same in an item; afterwards what was written goes back to the host, in stream order.
  template <class F>
  void on_device(device_context& context, index_range part, loop_shape shape, F&& f) {
    on_device(std::index_sequence_for<Args...>(), context, part, shape, f);
  }

 private:
  template <std::size_t... K, class F>
  void on_host(std::index_sequence<K...>, [[maybe_unused]] index_range part,
               [[maybe_unused]] loop_shape shape, F& f) const {
    f(loop_argument<Args>::on_host(std::get<K>(values_), part, shape)...);
  }
  template <std::size_t... K, class F>
  void on_device(std::index_sequence<K...>, [[maybe_unused]] device_context& context,
                 [[maybe_unused]] index_range part, [[maybe_unused]] loop_shape shape, F& f) {
    [[maybe_unused]] auto pieces = make_room([&] {
      return std::tuple<typename loop_argument<Args>::piece...>{typename loop_argument<Args>::piece(
          context, std::get<K>(values_), std::get<K>(shared_), part, shape)...};
    });
    f(std::get<K>(pieces).seen()...);
    (std::get<K>(pieces).copy_out(context), ...);
  }

  std::tuple<Args...> values_;
  std::tuple<typename loop_argument<Args>::shared...> shared_;
};

/// An index loop: its body, its arguments, and how parts of it run.
template <class Compiler, std::size_t Rank, class Body, class... Args>
class index_call {
 public:
  index_call(const extents<Rank>& size, std::size_t places, Body body, const Args&... args)
      : size_(size), body_(std::move(body)), arguments_(places, args...) {}

  static constexpr loop_operations operations{
      [](void* self, std::int64_t begin, std::int64_t end) {
        static_cast<const index_call*>(self)->run({begin, end});
      },
      [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        static_cast<index_call*>(self)->put(context, {begin, end});
      }};
  /// Its address stands for this kind of loop.
  static constexpr char key = 0;

  loop_request request(const char* name) {
    loop_request all{name};
    all.size = all.indices = size_.size();
    all.align = row_size(size_);
    all.moved_bytes = loop_arguments<Args...>::moved_bytes;
    all.body = &key;
    all.operations = &operations;
    all.self = this;
    return all;
  }

 private:
  enum : bool { fits = check_body<Rank, Body, Args...>() };  // asked at once, which a constant would not be

  void run([[maybe_unused]] index_range part) const {
#if defined(__CUDACC__)
    if constexpr (device_only_body<Body>) {
      refuse_without_host_code(-1);
    } else
#endif
        if constexpr (fits) {
      arguments_.on_host(part, shape_of(size_),
                         [&](auto... seen) { call_for_part(size_, part, body_, seen...); });
    }
  }
  void put([[maybe_unused]] device_context& context, [[maybe_unused]] index_range part) {
    if constexpr (fits) {
      arguments_.on_device(context, part, shape_of(size_), [&](auto... seen) {
        context.launch(part.end - part.begin, piece_body<Rank, Body>{body_, size_, part.begin}, seen...);
      });
    }
  }

  extents<Rank> size_;
  Body body_;
  loop_arguments<Args...> arguments_;
};

}  // namespace heddle::detail
