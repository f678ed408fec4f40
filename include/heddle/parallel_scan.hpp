// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "heddle/detail/scan_call.hpp"
#include "heddle/parallel_for.hpp"

namespace heddle {

namespace detail {

/// Before anything runs: the ranges of a scan may be one and the same, since what writes an element has read
/// it.
template <class X, class Y>
void check_scan(const char* name, const host_argument<X, access::in>& from,
                const host_argument<Y, access::out>& to) {
  const bool in_place = static_cast<const void*>(from.data) == static_cast<const void*>(to.data) &&
                        from.size == to.size && sizeof(X) == sizeof(Y);
  check_arguments(name, from.size, from);
  check_arguments(name, from.size, to);
  if (!in_place) check_arguments(name, from.size, from, to);
}

template <bool Inclusive, class Compiler, class T, class Join, class In, class Out>
void run_scan(const char* name, scheduler& s, const loop_options& options, const In& from, const Out& to,
              T init, Join join) {
  check_scan(name, from, to);
  scan_call<Compiler, Inclusive, T, Join, In, Out> call(from.size, count_places(s.core()), std::move(init),
                                                        std::move(join), from, to);
  run_loop(s.core(), call.sums_request(name), options);
  call.join_sums();
  run_loop(s.core(), call.write_request(name), options);
}

}  // namespace detail

/// `to[i]` = `init` joined with `from[0]`, …, `from[i]`, in this order. `join(a, b)` gives a T, is
/// associative up to rounding, and need not be commutative. `from` and `to` may be one range. The same bits
/// every time, for every split and number of devices of one kind, as for `parallel_reduce`; GPUs join in
/// smaller steps than host devices. Blocks and throws as `parallel_for`; the range is read twice.
///
///     heddle::inclusive_scan(sched, heddle::in(counts), heddle::out(ends), 0,
///                            [] HEDDLE_HOST_DEVICE(int a, int b) { return a + b; });
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
void inclusive_scan(scheduler& s, In from, Out to, T init, Join join, const loop_options& options = {}) {
  detail::run_scan<true, Compiler>("inclusive_scan", s, options, from, to, std::move(init), std::move(join));
}
/// The same without `from[i]`: `to[0]` is `init`.
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
void exclusive_scan(scheduler& s, In from, Out to, T init, Join join, const loop_options& options = {}) {
  detail::run_scan<false, Compiler>("exclusive_scan", s, options, from, to, std::move(init), std::move(join));
}

/// The same without blocking, in an item that waits for the passes: a `loop_future<void>`, whose end waits.
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
loop_future<void> inclusive_scan_async(scheduler& s, In from, Out to, T init, Join join,
                                       const loop_options& options = {}) {
  detail::check_scan("inclusive_scan_async", from, to);
  return loop_future<void>(s.submit([=, &s] {
    detail::run_scan<true, Compiler>("inclusive_scan_async", s, options, from, to, init, join);
  }));
}
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
loop_future<void> exclusive_scan_async(scheduler& s, In from, Out to, T init, Join join,
                                       const loop_options& options = {}) {
  detail::check_scan("exclusive_scan_async", from, to);
  return loop_future<void>(s.submit([=, &s] {
    detail::run_scan<false, Compiler>("exclusive_scan_async", s, options, from, to, init, join);
  }));
}

}  // namespace heddle
