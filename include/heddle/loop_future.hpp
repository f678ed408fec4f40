// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "heddle/detail/waiting.hpp"
#include "heddle/future.hpp"

namespace heddle {

/// The result of a loop that refers to memory of its caller: a future whose end waits for the loop, so that
/// the memory may go afterwards. What `future` says of its calls holds for these.
template <class R>
class [[nodiscard]] loop_future {
 public:
  loop_future() noexcept = default;
  explicit loop_future(future<R> loop) noexcept : loop_(std::move(loop)) {}
  loop_future(loop_future&&) noexcept = default;
  loop_future& operator=(loop_future&& other) noexcept {
    loop_future(std::move(other)).loop_.swap(loop_);
    return *this;
  }
  /// Blocks until no part of the loop runs or will run.
  ~loop_future() { end(); }

  bool valid() const noexcept { return loop_.valid(); }
  bool ready() const { return loop_.ready(); }
  void wait() const { loop_.wait(); }
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> limit) const {
    return loop_.wait_for(limit);
  }
  R get() { return loop_.get(); }
  /// What has not begun of the loop does not run any more, and it ends as `cancelled`; false, and nothing
  /// done, if all parts have begun. Never blocks.
  bool cancel() { return loop_.cancel(); }
  /// As `future::then`: the new future waits at its end as this one does, and cancels the loop.
  template <class F>
  auto then(F f) {
    auto next = detail::continue_loop(loop_, std::move(f));
    return loop_future<decltype(next.get())>(std::move(next));
  }

 private:
  void end() noexcept {
    if (!loop_.valid() || detail::in_forked_child()) return;
    std::exception_ptr refusal;
    detail::wait_to_the_end(detail::future_access::state(loop_), refusal);
  }

  future<R> loop_;
};

namespace detail {
/// What an asynchronous loop returns.
template <bool Borrows, class R>
auto guard_loop(future<R> loop) {
  if constexpr (Borrows) {
    return loop_future<R>(std::move(loop));
  } else {
    return loop;
  }
}
}  // namespace detail

}  // namespace heddle
