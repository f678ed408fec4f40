// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "heddle/detail/loop_argument.hpp"

namespace heddle::detail {

// What the callables of loops have to be, asked before they are used, so that the compiler says one sentence.
// Not of nvcc, to which a lambda that it is to compile for GPUs alone can be called by nobody on the host.

/// What a body sees of an argument.
template <class Arg>
using seen_of = std::remove_cvref_t<decltype(loop_argument<Arg>::on_host(std::declval<const Arg&>(),
                                                                         index_range{}, loop_shape{}))>;

#if defined(__CUDACC__)
template <std::size_t Rank, class Body, class... Args>
constexpr bool check_body() {
  return true;
}
template <std::size_t Rank, class T, class Body, class... Args>
constexpr bool check_reduced_body() {
  return true;
}
template <class T, class Join>
constexpr bool check_join() {
  return true;
}
template <class F, class... Args>
constexpr bool check_chunk_body() {
  return true;
}
#else
template <class Body, class Indices, class... Args>
struct body_of;
template <class Body, std::size_t... K, class... Args>
struct body_of<Body, std::index_sequence<K...>, Args...> {
  static constexpr bool fits =
      std::is_invocable_v<const Body&, std::enable_if_t<(K < 3), std::int64_t>..., seen_of<Args>...>;
  template <class T>
  static constexpr bool gives() {
    if constexpr (!fits) {
      return false;
    } else {
      using result =
          std::invoke_result_t<const Body&, std::enable_if_t<(K < 3), std::int64_t>..., seen_of<Args>...>;
      if constexpr (std::is_void_v<result>) {
        return false;
      } else {
        return requires(result(*made)()) { static_cast<T>(made()); };
      }
    }
  }
  template <class T>
  static constexpr bool cuts_off() {
    if constexpr (!gives<T>()) {
      return false;
    } else {
      using result = std::remove_cvref_t<
          std::invoke_result_t<const Body&, std::enable_if_t<(K < 3), std::int64_t>..., seen_of<Args>...>>;
      return std::is_integral_v<T> && std::is_floating_point_v<result>;
    }
  }
};

/// Fails to compile, with a sentence, unless `Body` can be called for the indices of a loop; whether it can.
template <std::size_t Rank, class Body, class... Args>
constexpr bool check_body() {
  constexpr bool fits = body_of<Body, std::make_index_sequence<Rank>, Args...>::fits;
  static_assert(
      fits,
      "the body of a loop is called with its indices (std::int64_t i; y, x; or z, y, x) and then what "
      "each argument becomes (in, whole: view<const T>; out, inout: view<T>; a value: itself), and as a "
      "constant: a lambda of it is not mutable");
  return fits;
}
/// The same, unless what it gives can be joined as a T.
template <std::size_t Rank, class T, class Body, class... Args>
constexpr bool check_reduced_body() {
  if constexpr (!check_body<Rank, Body, Args...>()) {
    return false;
  } else {
    using asked = body_of<Body, std::make_index_sequence<Rank>, Args...>;
    static_assert(
        asked::template gives<T>(),
        "the body of a reduction returns what is joined: something that becomes the type of the initial "
        "value; the arguments come as (initial value, join, body)");
    static_assert(
        !asked::template cuts_off<T>(),
        "the body of the reduction gives floating-point values, and the initial value is an integer, so "
        "that each of them would be cut off: give an initial value of the body's type, such as 0.0");
    return asked::template gives<T>() && !asked::template cuts_off<T>();
  }
}
template <class T, class Join>
constexpr bool check_join() {
  constexpr bool fits = std::is_invocable_r_v<T, const Join&, const T&, const T&>;
  static_assert(fits,
                "join(a, b) takes two values of the initial value's type and returns one, and is called as a "
                "constant: a lambda of it is not mutable");
  return fits;
}
template <class F, class... Args>
constexpr bool check_chunk_body() {
  constexpr bool fits = std::is_invocable_v<const F&, device_context&, index_range, seen_of<Args>...>;
  static_assert(fits,
                "for_each_chunk calls f(device_context&, index_range, …) with a view for each range behind "
                "that, or what else its arguments become, as a constant: a lambda of it is not mutable");
  return fits;
}
#endif

}  // namespace heddle::detail
