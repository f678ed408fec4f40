// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <utility>

#include "heddle/future.hpp"

namespace heddle {

namespace detail {

/// Resumes `suspended` in a new item once `it` has ended: on the device of the calling thread if it acts for
/// one, else on the device that `it` ran on. False, and nothing done, if it has ended. Throws
/// `scheduler_stopped`.
bool resume_after(item& it, std::coroutine_handle<> suspended);

template <class R>
struct future_awaiter {
  future<R> awaited;
  bool await_ready() const { return awaited.ready(); }
  bool await_suspend(std::coroutine_handle<> suspended) {
    return resume_after(future_access::state(awaited), suspended);
  }
  R await_resume() { return awaited.get(); }
};

}  // namespace detail

/// `co_await` of a future, in a coroutine of any type: suspends without blocking a thread, and resumes as a
/// new item, on the device the coroutine was on, else on the device that completed the future. Gives the
/// value or throws the error. The future is no longer valid. The part behind it is an item like others: an
/// exception that leaves it goes to `on_error`. Nobody may destroy the coroutine while it is suspended here:
/// it is resumed in any case, with `cancelled` thrown where the item was cancelled.
template <class R>
auto operator co_await(future<R>&& f) noexcept {
  return detail::future_awaiter<R>{std::move(f)};
}
template <class R>
auto operator co_await(future<R>& f) noexcept {
  return detail::future_awaiter<R>{std::move(f)};
}

}  // namespace heddle
