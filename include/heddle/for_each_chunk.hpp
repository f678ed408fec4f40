// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "heddle/detail/loop_body.hpp"
#include "heddle/parallel_for.hpp"

namespace heddle {

namespace detail {

/// A loop whose body works on a whole part, in an item.
template <class F, class... Args>
class chunk_call {
 public:
  chunk_call(std::int64_t size, std::size_t places, F f, const Args&... args)
      : size_(size), f_(std::move(f)), arguments_(places, args...) {}

  loop_request request(const char* name) {
    loop_request all{name};
    all.size = all.indices = size_;
    all.moved_bytes = loop_arguments<Args...>::moved_bytes;
    all.in_items = true;
    all.body = &key;
    all.operations = &operations;
    all.self = this;
    return all;
  }

 private:
  static constexpr char key = 0;
  static constexpr loop_operations operations{
      nullptr, [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        auto& call = *static_cast<chunk_call*>(self);
        const index_range part{begin, end};
        if constexpr (check_chunk_body<F, Args...>()) {
          call.arguments_.on_device(context, part, {}, [&](auto... seen) {
            static_cast<const F&>(call.f_)(context, part, seen...);
          });
        }
      }};

  std::int64_t size_;
  F f_;
  loop_arguments<Args...> arguments_;
};

}  // namespace detail

/// Calls `f(context, part, …)` in items that cover the indices from 0 to `n`, each once, by chunks that go to
/// whichever device has room, or as `options.split` says, or, where an argument is a distributed array, by
/// its blocks: to call libraries, or kernels of one's own, on the stream of the item. Behind the part come
/// the arguments as `parallel_for` gives them to bodies, views that are filled and taken back in stream
/// order; `view::local()` is the part's own pointer. `f` is shared: calls run at the same time. Blocks and
/// throws as `parallel_for`.
///
///     heddle::for_each_chunk(
///         sched, x.size(),
///         [&](heddle::device_context& d, heddle::index_range part, heddle::view<float> x) {
///           cublasSscal(handles[d], static_cast<int>(part.size()), &a, x.local(), 1);
///         },
///         heddle::inout(x));
template <std::integral N, class F, class... Args>
void for_each_chunk(scheduler& s, N n, const loop_options& options, F f, Args... args) {
  const std::int64_t size = extents<1>(n).size();
  detail::check_arguments("for_each_chunk", size, args...);
  if constexpr (detail::on_arrays<Args...>) {
    detail::refuse_wait_on_arena_thread("for_each_chunk");
    auto call = std::make_shared<detail::chunk_call<F, Args...>>(size, detail::count_places(s.core()),
                                                                 std::move(f), args...);
    const auto request = call->request("for_each_chunk");
    loop_future<void>(
        detail::start_on_arrays(s.core(), request, options, std::move(call), detail::uses_of(args...)))
        .get();
  } else {
    detail::chunk_call<F, Args...> call(size, detail::count_places(s.core()), std::move(f), args...);
    detail::run_loop(s.core(), call.request("for_each_chunk"), options);
  }
}
template <std::integral N, detail::loop_body F, class... Args>
void for_each_chunk(scheduler& s, N n, F f, Args... args) {
  for_each_chunk(s, n, loop_options(), std::move(f), args...);
}

/// The same without blocking, as `parallel_for_async`.
template <std::integral N, class F, class... Args>
auto for_each_chunk_async(scheduler& s, N n, const loop_options& options, F f, Args... args) {
  const std::int64_t size = extents<1>(n).size();
  detail::check_arguments("for_each_chunk_async", size, args...);
  auto call = std::make_shared<detail::chunk_call<F, Args...>>(size, detail::count_places(s.core()),
                                                               std::move(f), args...);
  const auto request = call->request("for_each_chunk_async");
  if constexpr (detail::on_arrays<Args...>) {
    return detail::guard_loop<detail::loop_arguments<Args...>::borrows>(
        detail::start_on_arrays(s.core(), request, options, std::move(call), detail::uses_of(args...)));
  } else {
    return detail::guard_loop<detail::loop_arguments<Args...>::borrows>(
        detail::start_loop(s.core(), request, options, std::move(call)));
  }
}
template <std::integral N, detail::loop_body F, class... Args>
auto for_each_chunk_async(scheduler& s, N n, F f, Args... args) {
  return for_each_chunk_async(s, n, loop_options(), std::move(f), args...);
}

}  // namespace heddle
