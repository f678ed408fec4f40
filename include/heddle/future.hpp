// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "heddle/detail/item.hpp"
#include "heddle/detail/time_limit.hpp"
#include "heddle/route.hpp"

namespace heddle {

/// When an item was queued, started and done (steady clock). Filled where `scheduler_options::record_times`
/// is set.
struct item_times {
  std::chrono::steady_clock::time_point queued, started, done;
};

namespace detail {
std::string label_of(const item&);
std::string why_of(const item&);
std::optional<item_times> times_of(const item&);
bool cancel_by_future(item&);
struct future_access;
}  // namespace detail

/// The result of one item: a value or an error, ready when the callable returned *and* the work that it put
/// on its stream is done. After `get()` has returned, nothing that the callable captured exists any more.
///
/// Distinct futures may be used from distinct threads; one future by one thread at a time. Movable; a
/// moved-from one is not `valid()`, and every other call on it throws `std::future_error` (no_state).
/// Dropping it neither blocks nor cancels: the item runs; an error that nobody took goes to
/// `scheduler_options::on_error`. It may outlive its scheduler.
///
/// Waiting inside an item runs only what is waited for, or what another waiting item needs; what cannot be
/// served so throws `would_deadlock`. On a thread of a device's arena, waiting for an unfinished item throws
/// `would_deadlock`: use `then`.
template <class R>
class [[nodiscard]] future {
 public:
  future() noexcept = default;
  future(future&& other) noexcept : item_(std::exchange(other.item_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    future(std::move(other)).swap(*this);
    return *this;
  }
  ~future() {
    if (item_ != nullptr) detail::drop_future(*item_);
  }
  void swap(future& other) noexcept { std::swap(item_, other.item_); }

  /// Whether it refers to an item. Never blocks.
  bool valid() const noexcept { return item_ != nullptr; }
  /// Whether `get()` would return at once. Never blocks.
  bool ready() const { return detail::has_ended(state()); }
  /// Blocks until the item has ended.
  void wait() const { detail::wait_until_ended(state()); }
  /// Blocks until the item has ended or the time is over; true if it has ended. Runs nothing meanwhile.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> limit) const {
    return wait_until(detail::time_limit(limit));
  }
  bool wait_until(std::chrono::steady_clock::time_point limit) const {
    return detail::wait_until_ended(state(), std::min(limit, detail::last_limit));
  }

  /// Blocks, then returns the value or throws the error, once: afterwards the future is not valid. Throws the
  /// user's exception object unchanged; `cancelled`, `deadline_exceeded` where the item never started.
  R get() {
    wait();
    const future owner(std::move(*this));
    if (owner.item_->error) {
      owner.item_->error_taken = true;
      std::rethrow_exception(owner.item_->error);
    }
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*owner.item_->value);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(owner.item_->value);
    }
  }

  /// The gpu id of the device that ran it; empty while it has not ended, or if it never started.
  std::optional<int> ran_on() const {
    auto& it = state();
    if (!detail::has_ended(it) || it.ran_on_id < 0) return std::nullopt;
    return it.ran_on_id;
  }
  /// The label of its route.
  std::string label() const { return detail::label_of(state()); }
  /// How the route was decided, in words.
  std::string why() const { return detail::why_of(state()); }
  /// Filled once it has ended, if times are recorded.
  std::optional<item_times> times() const {
    auto& it = state();
    return detail::has_ended(it) ? detail::times_of(it) : std::nullopt;
  }
  /// Ends the item as `cancelled` if it has not started; true if this call did. Its callable dies soon on the
  /// thread that would have run it; that of a continuation once what it continues has ended. Never blocks.
  bool cancel() { return detail::cancel_by_future(state()); }

  /// A new item that runs `f` with the value once this one has ended, on the same device or by `r`. `f` is
  /// called as `f(context, value)` or `f(value)`; without the value for `future<void>`. After an error `f` is
  /// destroyed unrun and the error passes on. This future is no longer valid. Never blocks. Throws
  /// `scheduler_stopped`, with this future untouched.
  template <class F>
  auto then(F f);
  template <class F>
  auto then(F f, const route& r);

  /// Runs `f` with a reference to the value, `f(context, value&)` or `f(value&)`, on the device thread as
  /// soon as the callable has returned: before its stream work is done. `f` may only put more work on the
  /// stream; the new future is ready once all of it is done. Attached to an item whose callable has returned
  /// it is `then`.
  template <class F>
  auto then_on_stream(F f);

 private:
  friend struct detail::future_access;
  explicit future(detail::result_item<R>& it) noexcept : item_(&it) {}
  detail::result_item<R>& state() const {
    if (item_ == nullptr) throw std::future_error(std::future_errc::no_state);
    return *item_;
  }

  detail::result_item<R>* item_ = nullptr;
};

namespace detail {
struct future_access {
  template <class R>
  static future<R> make(result_item<R>& it) noexcept {
    return future<R>(it);
  }
  template <class R>
  static result_item<R>& state(const future<R>& f) {
    return f.state();
  }
};
}  // namespace detail

}  // namespace heddle

#include "heddle/detail/then.hpp"
