// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/then.hpp"
#include "heddle/detail/waiting.hpp"
#include "heddle/scheduler.hpp"

namespace heddle::detail {

/// Which of the calls of one map failed first, by position.
class first_failure {
 public:
  /// Keeps `error` if no earlier position has failed.
  void note(std::size_t position, std::exception_ptr error);
  /// Whether the call at `position` still matters.
  bool wanted(std::size_t position) const noexcept {
    return position < position_.load(std::memory_order_relaxed);
  }
  /// Throws it, if there is one. After all calls have ended.
  void rethrow();

 private:
  std::atomic<std::size_t> position_{~std::size_t{0}};  // a hint for running calls; publishes nothing
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

/// Calls in the next item, when `left` of all `calls` are left: as many as `asked`, if that is not 0.
std::size_t map_chunk(const scheduler_core&, std::size_t asked, std::size_t left, std::size_t calls);
/// One call's arguments, of any kind of range, by position.
template <class Range>
class indexed_input {
  using value = std::ranges::range_value_t<Range>;
  static constexpr bool in_place = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;
  // A range that was given away, not a view of elements that belong to somebody else.
  static constexpr bool consume =
      !std::is_lvalue_reference_v<Range> && !std::ranges::view<std::remove_cvref_t<Range>>;

 public:
  explicit indexed_input(Range& range) {
    if constexpr (in_place) {
      elements_ = std::ranges::data(range);
      size_ = std::ranges::size(range);
    } else {
      for (auto&& x : range) {
        if constexpr (consume) {
          copies_.push_back({std::move(x)});
        } else {
          copies_.push_back({std::forward<decltype(x)>(x)});
        }
      }
      size_ = copies_.size();
    }
  }
  std::size_t size() const noexcept { return size_; }
  decltype(auto) operator[](std::size_t k) {
    if constexpr (!in_place) {
      return std::move(copies_[k].element);
    } else if constexpr (consume) {
      return std::move(elements_[k]);
    } else {
      return (elements_[k]);
    }
  }

 private:
  struct copy {
    value element;  // in a struct, since std::vector<bool> has no elements
  };
  std::conditional_t<in_place, std::add_pointer_t<std::ranges::range_reference_t<Range>>, char> elements_{};
  std::vector<copy> copies_;
  std::size_t size_ = 0;
};

/// The results of one map, by position, written by several threads.
template <class R>
class indexed_results {
  static constexpr bool direct = std::is_default_constructible_v<R> && std::is_move_assignable_v<R> &&
                                 !std::is_same_v<R, bool>;  // the bits of std::vector<bool> share words

 public:
  explicit indexed_results(std::size_t size) : slots_(size) {}
  template <class Call>
  void set(std::size_t k, Call&& call) {
    if constexpr (direct) {
      slots_[k] = call();
    } else {
      slots_[k].emplace(call());
    }
  }
  std::vector<R> take() && {
    if constexpr (direct) {
      return std::move(slots_);
    } else {
      std::vector<R> all;
      all.reserve(slots_.size());
      for (auto& slot : slots_) all.push_back(std::move(*slot));
      return all;
    }
  }

 private:
  std::vector<std::conditional_t<direct, R, std::optional<R>>> slots_;
};

template <>
class indexed_results<void> {
 public:
  explicit indexed_results(std::size_t) {}
  template <class Call>
  void set(std::size_t, Call&& call) {
    call();
  }
  void take() && {}
};

/// `call(context, element)` for every element, in items of several calls.
template <class Call, class Range>
auto map_elements(scheduler& s, Call& call, std::remove_reference_t<Range>& range,
                  const map_options& options) {
  using input = indexed_input<Range>;
  using result = std::decay_t<decltype(call(std::declval<device_context&>(), std::declval<input&>()[0]))>;
  auto& core = s.core();  // first: a forked child must not get as far as memory
  refuse_wait_on_arena_thread("map");
  input elements(range);
  const std::size_t n = elements.size();
  indexed_results<result> results(n);
  first_failure failure;
  const auto run = [&](device_context& context, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end && failure.wanted(k); ++k) {
      try {
        results.set(k, [&]() -> decltype(auto) { return call(context, elements[k]); });
      } catch (...) {
        failure.note(k, std::current_exception());
      }
    }
  };
  struct part {
    std::size_t begin;
    future<void> done = {};
  };
  std::vector<part> parts;
  std::exception_ptr refused;
  try {
    for (std::size_t begin = 0; begin < n && failure.wanted(begin);) {
      const std::size_t end = begin + map_chunk(core, options.chunk, n - begin, n);
      auto& next = parts.emplace_back(part{begin});  // first: an item that is not waited for must not run
      next.done =
          s.submit([&run, begin, end](device_context& context) { run(context, begin, end); }, options.route);
      begin = end;
    }
  } catch (...) {
    refused = std::current_exception();
    failure.note(0, refused);  // nothing that has not begun is wanted any more
  }
  for (part& each : parts) {
    if (!each.done.valid()) continue;  // refused
    std::exception_ptr refusal;
    wait_to_the_end(future_access::state(each.done), refusal);
    try {
      each.done.get();
    } catch (...) {  // the whole part was cancelled
      failure.note(each.begin, refusal ? refusal : std::current_exception());
    }
  }
  if (refused) std::rethrow_exception(refused);
  failure.rethrow();
  return std::move(results).take();
}

}  // namespace heddle::detail

namespace heddle {

template <class F, std::ranges::input_range Range>
auto scheduler::map(F&& f, Range&& range, const map_options& options) {
  auto call = [&f](device_context& context, auto&& x) -> decltype(auto) {
    return detail::call_with_values(f, context, std::forward<decltype(x)>(x));
  };
  return detail::map_elements<decltype(call), Range>(*this, call, range, options);
}

template <class F, std::ranges::input_range Range>
auto scheduler::starmap(F&& f, Range&& range, const map_options& options) {
  auto call = [&f](device_context& context, auto&& arguments) -> decltype(auto) {
    return std::apply(
        [&](auto&&... x) -> decltype(auto) {
          return detail::call_with_values(f, context, std::forward<decltype(x)>(x)...);
        },
        std::forward<decltype(arguments)>(arguments));
  };
  return detail::map_elements<decltype(call), Range>(*this, call, range, options);
}

}  // namespace heddle
