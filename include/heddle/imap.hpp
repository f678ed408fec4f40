// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/arrivals.hpp"
#include "heddle/detail/then.hpp"
#include "heddle/detail/waiting.hpp"
#include "heddle/scheduler.hpp"

namespace heddle {

namespace detail {

/// How many items of `chunk` calls an imap keeps in the making; at least 1.
std::size_t imap_items_ahead(const scheduler_core&, const map_options&);

/// What one call came to.
template <class R>
struct outcome {
  std::optional<R> value;
  std::exception_ptr error;
};

/// The state of one imap: input, items in the making, results at hand. Used by the reading thread only.
template <class R, class F, class Range>
class imap_state {
  struct element {
    std::ranges::range_value_t<Range> value;  // in a struct, since std::vector<bool> has no elements
  };
  using outcomes = std::vector<outcome<R>>;

 public:
  imap_state(scheduler& s, F f, Range range, const map_options& options, bool ordered)
      : scheduler_(s),
        f_(std::make_shared<F>(std::move(f))),
        range_(std::move(range)),
        options_(options),
        chunk_(options.chunk == 0 ? 1 : options.chunk),
        ahead_(imap_items_ahead(s.core(), options)),
        ordered_(ordered) {
    refuse_wait_on_arena_thread("imap");
  }
  imap_state(const imap_state&) = delete;
  imap_state& operator=(const imap_state&) = delete;

  ~imap_state() {
    if (in_forked_child()) return;
    std::exception_ptr ignored;
    for (auto& each : parts_) each.results.cancel();
    for (auto& each : parts_) {
      wait_to_the_end(future_access::state(each.results), ignored);
      try {
        each.results.get();
      } catch (...) {  // nobody reads it any more
      }
    }
  }

  /// Makes the next result the current one; false at the end.
  bool advance() {
    ++position_;
    if (position_ < at_hand_.size()) return true;
    fill();
    if (parts_.empty()) {
      if (input_error_) std::rethrow_exception(std::exchange(input_error_, nullptr));
      return false;
    }
    take(ordered_ ? 0 : next_arrival());
    position_ = 0;
    try {
      fill();
    } catch (...) {  // the next call tries again, and tells: these results are to be read first
    }
    return true;
  }

  R& current() {
    auto& it = at_hand_[position_];
    if (it.error) std::rethrow_exception(it.error);
    return *it.value;
  }

 private:
  struct in_making {
    std::size_t number, calls;
    future<outcomes> results = {};
  };
  struct part {
    std::shared_ptr<F> f;
    std::vector<element> arguments;
    outcomes operator()(device_context& context) {
      outcomes all;
      for (auto& x : arguments) {
        outcome<R> one;
        try {
          one.value.emplace(call_with_values(*f, context, std::move(x.value)));
        } catch (...) {
          one.error = std::current_exception();
        }
        all.push_back(std::move(one));
      }
      return all;
    }
  };

  // What the input throws ends it, and waits until the results before it have been read.
  void read_input() {
    try {
      if (!next_) next_.emplace(std::ranges::begin(range_));
      while (waiting_.size() < chunk_ && *next_ != std::ranges::end(range_)) {
        if constexpr (std::ranges::view<Range>) {
          waiting_.push_back({**next_});  // of elements that belong to somebody else
        } else {
          waiting_.push_back({std::ranges::iter_move(*next_)});
        }
        ++*next_;
      }
    } catch (...) {
      input_error_ = std::current_exception();
      input_over_ = true;
    }
  }

  void fill() {
    while (parts_.size() < ahead_) {
      if (!input_over_) read_input();
      if (waiting_.empty()) return;
      auto& made = parts_.emplace_back(in_making{next_number_, waiting_.size()});
      part next{f_, std::move(waiting_)};
      try {
        made.results = scheduler_.submit(std::move(next), options_.route);
      } catch (...) {
        waiting_ = std::move(next.arguments);  // a refusal leaves the callable untouched: no input is lost
        parts_.pop_back();
        if (parts_.empty()) throw;
        return;
      }
      waiting_.clear();
      ++next_number_;
      if (!ordered_) arrivals_.expect(future_access::state(made.results), made.number);
    }
  }

  // Its results become those at hand.
  void take(std::size_t place) {
    if (!parts_[place].results.ready()) refuse_wait_on_arena_thread("imap");
    std::exception_ptr refusal;
    wait_to_the_end(future_access::state(parts_[place].results), refusal);
    in_making taken = std::move(parts_[place]);
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(place));
    try {
      at_hand_ = taken.results.get();
    } catch (...) {  // cancelled, all calls of it
      at_hand_.clear();
      if (!refusal) refusal = std::current_exception();
      while (at_hand_.size() < taken.calls) at_hand_.push_back({std::nullopt, refusal});
    }
  }

  std::size_t next_arrival() {
    const std::size_t number = arrivals_.next(future_access::state(parts_.front().results));
    std::size_t place = 0;
    while (parts_[place].number != number) ++place;
    return place;
  }

  scheduler& scheduler_;
  const std::shared_ptr<F> f_;
  Range range_;
  std::optional<std::ranges::iterator_t<Range>> next_;
  bool input_over_ = false;         // it has thrown
  std::exception_ptr input_error_;  // that nobody was told of yet
  std::vector<element> waiting_;    // taken from the input, not submitted yet
  const map_options options_;
  const std::size_t chunk_;
  const std::size_t ahead_;
  const bool ordered_;
  std::deque<in_making> parts_;  // in input order
  std::size_t next_number_ = 0;
  arrivals arrivals_;
  outcomes at_hand_;
  std::size_t position_ = 0;
};

}  // namespace detail

/// What `scheduler::imap` returns: an input range, read once, by one thread at a time. Movable. Its scheduler
/// must outlive it.
template <class R, class F, class Range>
class imap_range {
  using state = detail::imap_state<R, F, Range>;

 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = R;
    using difference_type = std::ptrdiff_t;
    iterator() noexcept = default;

    /// The result; throws what its call threw. May be moved from.
    R& operator*() const { return state_->current(); }
    /// Blocks until the next result is there. Throws as `future::wait` and `scheduler::submit` do; what the
    /// input throws once all results before it have been read, and there are no more then.
    iterator& operator++() {
      if (!state_->advance()) state_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.state_ == nullptr;
    }

   private:
    friend class imap_range;
    explicit iterator(state* s) noexcept : state_(s) {}
    state* state_ = nullptr;
  };

  /// Starts the work. Blocks until the first result is there. Throws as the iterator's ++ does. Once only.
  iterator begin() {
    iterator first(state_.get());
    return ++first;
  }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class scheduler;
  explicit imap_range(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
  std::unique_ptr<state> state_;
};

namespace detail {

template <class F, class Range>
using imap_result =
    std::decay_t<decltype(call_with_values(std::declval<F&>(), std::declval<device_context&>(),
                                           std::declval<std::ranges::range_value_t<Range>&&>()))>;
}  // namespace detail

template <class F, std::ranges::input_range Range>
auto scheduler::imap(F f, Range&& range, const map_options& options) {
  using owned = std::remove_cvref_t<Range>;
  using result = detail::imap_result<F, owned>;
  static_assert(!std::is_void_v<result>, "imap is for results; use map for calls that return nothing");
  return imap_range<result, F, owned>(std::make_unique<detail::imap_state<result, F, owned>>(
      *this, std::move(f), owned(std::forward<Range>(range)), options, true));
}

template <class F, std::ranges::input_range Range>
auto scheduler::imap_unordered(F f, Range&& range, const map_options& options) {
  using owned = std::remove_cvref_t<Range>;
  using result = detail::imap_result<F, owned>;
  static_assert(!std::is_void_v<result>, "imap is for results; use map for calls that return nothing");
  return imap_range<result, F, owned>(std::make_unique<detail::imap_state<result, F, owned>>(
      *this, std::move(f), owned(std::forward<Range>(range)), options, false));
}

}  // namespace heddle
