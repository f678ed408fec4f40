// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "heddle/detail/scan_call.hpp"
#include "heddle/parallel_for.hpp"

namespace heddle {

namespace detail {

/// Before anything runs: two host ranges of a scan may be one and the same, since what writes an element has
/// read it.
template <class In, class Out>
void check_scan(const char* name, const In& from, const Out& to) {
  static_assert(is_scanned<In, access::in> && is_scanned<Out, access::out>,
                "a scan reads in(range) or in(array), and writes out(range) or out(array)");
  const std::int64_t size = scan_size(from, to);
  bool in_place = false;
  if constexpr (!on_arrays<In, Out>) {
    in_place = static_cast<const void*>(from.data) == static_cast<const void*>(to.data) &&
               from.size == to.size && sizeof(*from.data) == sizeof(*to.data);
  }
  check_arguments(name, size, from);
  check_arguments(name, size, to);
  if (!in_place) check_arguments(name, size, from, to);
}

/// Over arrays, without blocking.
template <bool Inclusive, class Compiler, class T, class Join, class In, class Out>
future<void> start_array_scan(const char* name, scheduler& s, const loop_options& options, const In& from,
                              const Out& to, T init, Join join) {
  auto call = std::make_shared<scan_call<Compiler, Inclusive, T, Join, In, Out>>(
      count_places(s.core()), std::move(init), std::move(join), from, to);
  auto target = std::make_shared<replicated_core>(s.core(), sizeof(T));
  const auto sums = call->array_sums_request(name, target);
  return start_scan(s.core(), sums, call->array_write_request(name), options, call, uses_of(from, to),
                    {std::move(target), [call](device_context* context, void* block_sums, void* before) {
                       call->finish_sums(context, block_sums, before);
                     }});
}

template <bool Inclusive, class Compiler, class T, class Join, class In, class Out>
void run_scan(const char* name, scheduler& s, const loop_options& options, const In& from, const Out& to,
              T init, Join join) {
  check_scan(name, from, to);
  if constexpr (on_arrays<In, Out>) {
    refuse_wait_on_arena_thread(name);
    loop_future<void>(
        start_array_scan<Inclusive, Compiler>(name, s, options, from, to, std::move(init), std::move(join)))
        .get();
  } else {
    scan_call<Compiler, Inclusive, T, Join, In, Out> call(count_places(s.core()), std::move(init),
                                                          std::move(join), from, to);
    run_loop(s.core(), call.sums_request(name), options);
    try {
      call.join_sums();
    } catch (...) {
      if (options.not_done != nullptr) *options.not_done = {{0, scan_size(from, to)}};
      throw;
    }
    run_loop(s.core(), call.write_request(name), options);
  }
}

template <bool Inclusive, class Compiler, class T, class Join, class In, class Out>
auto issue_scan(const char* name, scheduler& s, const loop_options& options, const In& from, const Out& to,
                T init, Join join) {
  check_scan(name, from, to);
  if constexpr (on_arrays<In, Out>) {
    return guard_loop<loop_arguments<In, Out>::borrows>(
        start_array_scan<Inclusive, Compiler>(name, s, options, from, to, std::move(init), std::move(join)));
  } else {
    return loop_future<void>(
        s.submit([=, &s] { run_scan<Inclusive, Compiler>(name, s, options, from, to, init, join); }));
  }
}

}  // namespace detail

/// `to[i]` = `init` joined with `from[0]`, …, `from[i]`, in this order. `join(a, b)` gives a T, is
/// associative up to rounding, and need not be commutative. `from` and `to` may be one range, or one array.
/// The same bits every time, for every split and number of devices of one kind, as for `parallel_reduce`;
/// GPUs join in smaller steps than host devices. Blocks and throws as `parallel_for`; the range is read
/// twice.
///
/// `from`, `to`, or both may be a `distributed_array`, of one dimension or, in the order in which its rows
/// lie, of more: three steps that follow its blocks, in the order of the calls.
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

/// The same without blocking: over arrays a `future<void>`, and the next loop may be issued at once; where
/// one of the two is a host range, a `loop_future<void>`, whose end waits; where both are, in an item that
/// waits for the passes.
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
auto inclusive_scan_async(scheduler& s, In from, Out to, T init, Join join,
                          const loop_options& options = {}) {
  return detail::issue_scan<true, Compiler>("inclusive_scan_async", s, options, from, to, std::move(init),
                                            std::move(join));
}
template <class In, class Out, class T, class Join, class Compiler = detail::this_compiler>
auto exclusive_scan_async(scheduler& s, In from, Out to, T init, Join join,
                          const loop_options& options = {}) {
  return detail::issue_scan<false, Compiler>("exclusive_scan_async", s, options, from, to, std::move(init),
                                             std::move(join));
}

}  // namespace heddle
