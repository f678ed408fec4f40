// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "heddle/detail/index_call.hpp"
#include "heddle/loop_arguments.hpp"
#include "heddle/loop_future.hpp"
#include "heddle/loop_options.hpp"
#include "heddle/scheduler.hpp"

namespace heddle {

namespace detail {

template <std::integral N>
extents<1> to_extents(N n) {
  return extents<1>(n);
}
template <std::size_t Rank>
extents<Rank> to_extents(const extents<Rank>& size) {
  return size;
}
template <class Other>
requires(!std::integral<Other>) extents<1> to_extents(const Other&) {
  static_assert(std::integral<Other>,
                "the size of a loop is a whole number, or extents{ny, nx} or extents{nz, ny, nx}");
  return extents<1>(0);
}
template <class Size>
using extents_of = decltype(to_extents(std::declval<Size>()));

template <class Body>
concept loop_body = !std::same_as<Body, loop_options> && std::copy_constructible<Body>;

}  // namespace detail

/// Calls `body(i, …)`, or `body(y, x, …)`, `body(z, y, x, …)` for `extents`, for every index, in parallel and
/// in no order, on all devices of the scheduler or, where that is faster, on fewer. Each argument becomes
/// what the body gets behind the indices: host ranges tagged by `in`, `out`, `inout`, `whole` become views,
/// values are copied.
///
/// Blocks until no part of it runs or will run; on host devices the calling thread takes part, and acts for a
/// device meanwhile. The exception of the first part, by index, is thrown unchanged; others go to `on_error`;
/// a `device_error` says which indices are not done. Any thread; on one of a device's arena it
/// runs on that device alone, and throws `would_deadlock` where parts of it are items. Throws
/// `invalid_option` for sizes that do not match and ranges that overlap, before anything runs; `cancelled` if
/// its token stopped it; `scheduler_stopped`; `no_device_code` on GPUs for a body that g++ compiled.
///
///     heddle::parallel_for(
///         sched, x.size(),
///         [=] HEDDLE_HOST_DEVICE(std::int64_t i, heddle::view<const float> x, heddle::view<float> y) {
///           y[i] += a * x[i];
///         },
///         heddle::in(x), heddle::inout(y));
template <class Size, class Body, class... Args, class Compiler = detail::this_compiler>
void parallel_for(scheduler& s, Size size, const loop_options& options, Body body, Args... args) {
  using call_type = detail::index_call<Compiler, detail::extents_of<Size>::rank, Body, Args...>;
  const auto whole_size = detail::to_extents(size);
  detail::check_arguments("parallel_for", whole_size.size(), args...);
  if constexpr (detail::on_arrays<Args...>) {
    detail::refuse_wait_on_arena_thread("parallel_for");
    auto call =
        std::make_shared<call_type>(whole_size, detail::count_places(s.core()), std::move(body), args...);
    const auto request = call->request("parallel_for");
    loop_future<void>(
        detail::start_on_arrays(s.core(), request, options, std::move(call), detail::uses_of(args...)))
        .get();
  } else {
    call_type call(whole_size, detail::count_places(s.core()), std::move(body), args...);
    detail::run_loop(s.core(), call.request("parallel_for"), options);
  }
}
template <class Size, detail::loop_body Body, class... Args, class Compiler = detail::this_compiler>
void parallel_for(scheduler& s, Size size, Body body, Args... args) {
  parallel_for(s, size, loop_options(), std::move(body), args...);
}

/// The same without blocking: a `future<void>`; a `loop_future<void>`, whose end waits for the loop, where an
/// argument is a host range. Its `cancel()` ends what has not begun; false if all parts have. What the body
/// and `options.not_done` refer to must live until it is ready.
template <class Size, class Body, class... Args, class Compiler = detail::this_compiler>
auto parallel_for_async(scheduler& s, Size size, const loop_options& options, Body body, Args... args) {
  using call_type = detail::index_call<Compiler, detail::extents_of<Size>::rank, Body, Args...>;
  const auto whole_size = detail::to_extents(size);
  detail::check_arguments("parallel_for_async", whole_size.size(), args...);
  auto call =
      std::make_shared<call_type>(whole_size, detail::count_places(s.core()), std::move(body), args...);
  const auto request = call->request("parallel_for_async");
  if constexpr (detail::on_arrays<Args...>) {
    return detail::guard_loop<detail::loop_arguments<Args...>::borrows>(
        detail::start_on_arrays(s.core(), request, options, std::move(call), detail::uses_of(args...)));
  } else {
    return detail::guard_loop<detail::loop_arguments<Args...>::borrows>(
        detail::start_loop(s.core(), request, options, std::move(call)));
  }
}
template <class Size, detail::loop_body Body, class... Args, class Compiler = detail::this_compiler>
auto parallel_for_async(scheduler& s, Size size, Body body, Args... args) {
  return parallel_for_async(s, size, loop_options(), std::move(body), args...);
}

}  // namespace heddle
