// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "heddle/detail/submission.hpp"
#include "heddle/future.hpp"

namespace heddle::detail {

/// `f(context, x…)` if it can be called so, else `f(x…)`.
template <class F, class... X>
decltype(auto) call_with_values(F& f, device_context& context, X&&... x) {
  if constexpr (std::is_invocable_v<F&, device_context&, X...>) {
    return f(context, std::forward<X>(x)...);
  } else {
    static_assert(std::is_invocable_v<F&, X...>, "the callable takes neither (context, value) nor (value)");
    return f(std::forward<X>(x)...);
  }
}

/// The callable of an item that continues another: owns its future.
template <class R, class F>
struct then_call {
  future<R> parent;
  F f;
  decltype(auto) operator()(device_context& context) {
    if constexpr (std::is_void_v<R>) {
      parent.get();
      return call_with_values(f, context);
    } else {
      return call_with_values(f, context, parent.get());
    }
  }
};

/// The same before the other's stream work is done: the value stays where it is.
template <class R, class F>
struct then_on_stream_call {
  then_on_stream_call(future<R>&& before, F&& call) : parent(std::move(before)), f(std::move(call)) {}
  then_on_stream_call(then_on_stream_call&&) = default;
  ~then_on_stream_call() {
    if (shares_error && parent.valid()) future_access::state(parent).error_taken = true;
  }
  future<R> parent;
  F f;
  // Whether the other's error, which may be that of the stream's work, is this item's too, and its future
  // tells it.
  bool shares_error = false;
  decltype(auto) operator()(device_context& context) {
    auto& state = future_access::state(parent);
    shares_error = true;
    if (state.error) std::rethrow_exception(state.error);
    try {
      if constexpr (std::is_void_v<R>) {
        return call_with_values(f, context);
      } else if constexpr (std::is_reference_v<R>) {
        return call_with_values(f, context, *state.value);
      } else {
        return call_with_values(f, context, state.value);
      }
    } catch (...) {
      shares_error = false;
      throw;
    }
  }
};

/// If cancelling `from` is something else than to end it, then so is cancelling `to`. Throws std::bad_alloc;
/// then `to` is discarded.
void pass_cancelling_on(const item& from, item& to);

/// `is_part_of_it`: of what the parent stands for, and is cancelled with it.
template <class Call, class R, class F>
auto continue_with(future<R>& parent, F&& f, const route* r, bool on_stream, bool is_part_of_it = false) {
  using result = item_result<Call>;
  auto& before = future_access::state(parent);
  submission admitted(before, r);
  auto* const it = new typed_item<result, Call>(Call{std::move(parent), std::move(f)});
  auto handle = future_access::make<result>(*it);
  if (is_part_of_it) pass_cancelling_on(before, *it);
  admitted.follow(before, *it, on_stream);
  return handle;
}

/// The last step of a loop.
template <class R, class F>
auto continue_loop(future<R>& loop, F f) {
  return continue_with<then_call<R, F>>(loop, std::move(f), nullptr, false, true);
}

}  // namespace heddle::detail

namespace heddle {

template <class R>
template <class F>
auto future<R>::then(F f) {
  return detail::continue_with<detail::then_call<R, F>>(*this, std::move(f), nullptr, false);
}

template <class R>
template <class F>
auto future<R>::then(F f, const route& r) {
  return detail::continue_with<detail::then_call<R, F>>(*this, std::move(f), &r, false);
}

template <class R>
template <class F>
auto future<R>::then_on_stream(F f) {
  return detail::continue_with<detail::then_on_stream_call<R, F>>(*this, std::move(f), nullptr, true);
}

}  // namespace heddle
