// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "heddle/detail/reduce_call.hpp"
#include "heddle/parallel_for.hpp"

namespace heddle {

namespace detail {

template <class T, class... Args>
constexpr bool ends_with_value() {
  if constexpr (sizeof...(Args) == 0) {
    return false;
  } else {
    return std::is_same_v<std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>,
                          replicated_argument<T, access::out>>;
  }
}
template <class T, class... Args>
inline constexpr bool reduces_into = ends_with_value<T, Args...>();

template <class Compiler, std::size_t... K, std::size_t Rank, class T, class Join, class Body, class... Args>
future<void> reduce_into(std::index_sequence<K...>, scheduler& s, const extents<Rank>& size,
                         const loop_options& options, T init, Join join, Body body,
                         std::tuple<Args...> args) {
  static_assert(std::is_trivially_copyable_v<T>, "a replicated value has a trivially copyable type");
  using call_type =
      reduce_call<Compiler, Rank, T, Join, Body, std::tuple_element_t<K, std::tuple<Args...>>...>;
  check_arguments("parallel_reduce_async", size.size(), std::get<K>(args)...);
  auto call = std::make_shared<call_type>(size, count_places(s.core()), std::move(init), std::move(join),
                                          std::move(body), std::get<K>(args)...);
  auto& target = std::get<sizeof...(K)>(args).value;
  const auto request = call->request_into("parallel_reduce_async", target);
  return start_reduction(s.core(), request, options, call, uses_of(std::get<K>(args)...),
                         {target, [call](device_context* context, void* partials, void* value) {
                            call->finish(context, partials, value);
                          }});
}

}  // namespace detail

/// `init` joined with `body(i, …)`, or `body(y, x, …)`, `body(z, y, x, …)`, of all indices: a T. `join(a, b)`
/// gives a T, and is associative and commutative up to rounding. `init` is joined once.
///
/// The same bits every time, for every split and number of devices of one kind: the indices are cut into
/// blocks by their number alone, over arrays by the array's rows, each block is joined in lanes of a fixed
/// number, and lanes and blocks in a fixed tree. Between host devices and GPUs the order is the same too;
/// bits differ where their arithmetic does (a GPU's compiler may fuse a multiplication and an addition).
///
/// Blocks and throws as `parallel_for`. On GPUs T is trivially copyable, and `join` is compiled for them as
/// the body is.
template <class Size, class T, class Join, class Body, class... Args, class Compiler = detail::this_compiler>
requires(!std::same_as<Size, loop_options>) T
    parallel_reduce(scheduler& s, Size size, const loop_options& options, T init, Join join, Body body,
                    Args... args) {
  const auto whole_size = detail::to_extents(size);
  detail::check_arguments("parallel_reduce", whole_size.size(), args...);
  using call_type = detail::reduce_call<Compiler, detail::extents_of<Size>::rank, T, Join, Body, Args...>;
  if constexpr (detail::on_arrays<Args...>) {
    detail::refuse_wait_on_arena_thread("parallel_reduce");
    auto call = std::make_shared<call_type>(whole_size, detail::count_places(s.core()), std::move(init),
                                            std::move(join), std::move(body), args...);
    loop_future<void>(detail::start_on_arrays(s.core(), call->request("parallel_reduce"), options, call,
                                              detail::uses_of(args...)))
        .get();
    return call->result();
  } else {
    call_type call(whole_size, detail::count_places(s.core()), std::move(init), std::move(join),
                   std::move(body), args...);
    detail::run_loop(s.core(), call.request("parallel_reduce"), options);
    return call.result();
  }
}
template <class Size, class T, class Join, class Body, class... Args, class Compiler = detail::this_compiler>
requires(!std::same_as<T, loop_options>) T
    parallel_reduce(scheduler& s, Size size, T init, Join join, Body body, Args... args) {
  return parallel_reduce(s, size, loop_options(), std::move(init), std::move(join), std::move(body), args...);
}

/// The same without blocking: a `future<T>`; a `loop_future<T>`, whose end waits for the loop, where an
/// argument is a host range.
///
/// Where the last argument is `out(value)` of a `replicated<T>`, behind those of the body, one of which is a
/// distributed array: a `future<void>`; every device gets the value in the order of the calls, for later
/// loops, with no host in between.
template <class Size, class T, class Join, class Body, class... Args, class Compiler = detail::this_compiler>
auto parallel_reduce_async(scheduler& s, Size size, const loop_options& options, T init, Join join, Body body,
                           Args... args) {
  if constexpr (detail::reduces_into<T, Args...>) {
    return detail::reduce_into<Compiler>(std::make_index_sequence<sizeof...(Args) - 1>(), s,
                                         detail::to_extents(size), options, std::move(init), std::move(join),
                                         std::move(body), std::tuple<Args...>(std::move(args)...));
  } else {
    using call_type = detail::reduce_call<Compiler, detail::extents_of<Size>::rank, T, Join, Body, Args...>;
    const auto whole_size = detail::to_extents(size);
    detail::check_arguments("parallel_reduce_async", whole_size.size(), args...);
    auto call = std::make_shared<call_type>(whole_size, detail::count_places(s.core()), std::move(init),
                                            std::move(join), std::move(body), args...);
    const auto request = call->request("parallel_reduce_async");
    auto loop = [&] {
      if constexpr (detail::on_arrays<Args...>) {
        return detail::start_on_arrays(s.core(), request, options, call, detail::uses_of(args...));
      } else {
        return detail::start_loop(s.core(), request, options, call);
      }
    }();
    return detail::guard_loop<detail::loop_arguments<Args...>::borrows>(
        detail::continue_loop(loop, [call = std::move(call)] { return call->result(); }));
  }
}
template <class Size, class T, class Join, class Body, class... Args, class Compiler = detail::this_compiler>
requires(!std::same_as<T, loop_options>) auto parallel_reduce_async(scheduler& s, Size size, T init,
                                                                    Join join, Body body, Args... args) {
  return parallel_reduce_async(s, size, loop_options(), std::move(init), std::move(join), std::move(body),
                               args...);
}

}  // namespace heddle
