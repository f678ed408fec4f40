// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/detail/submission.hpp"
#include "heddle/error.hpp"
#include "heddle/future.hpp"

namespace heddle {

namespace detail {

/// Hands over an item that runs once all `parents`, which it owns, have ended. `cancel`, if there is one, is
/// called in place of cancelling it.
void follow_all(submission&, std::vector<item*> parents, item& follower, std::function<bool()> cancel);

/// What a future gives in a tuple: its value, std::monostate for void.
template <class R>
using tuple_element = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

template <class R>
tuple_element<R> take_value(future<R>& f) {
  if constexpr (std::is_void_v<R>) {
    f.get();
    return {};
  } else {
    return f.get();
  }
}

template <class R>
struct when_all_call {
  std::vector<future<R>> parents;
  auto operator()() {
    if constexpr (std::is_void_v<R>) {
      for (auto& each : parents) each.get();
    } else {
      std::vector<R> values;
      values.reserve(parents.size());
      for (auto& each : parents) values.push_back(each.get());
      return values;
    }
  }
};

template <class... R>
struct when_all_tuple_call {
  std::tuple<future<R>...> parents;
  auto operator()() {
    return std::apply([](auto&... each) { return std::tuple<tuple_element<R>...>{take_value(each)...}; },
                      parents);
  }
};

template <class Call>
auto join_all(std::vector<item*> parents, Call&& call, std::function<bool()> cancel = {}) {
  using result = item_result<std::decay_t<Call>>;
  submission admitted(*parents.front(), nullptr);
  auto* const it = new typed_item<result, std::decay_t<Call>>(std::forward<Call>(call));
  auto handle = future_access::make<result>(*it);
  follow_all(admitted, std::move(parents), *it, std::move(cancel));
  return handle;
}

}  // namespace detail

/// All values, in order, once every item has ended: std::vector<R>, or nothing for void. The first error, by
/// position, is thrown by `get()`; others go to `on_error`. The futures are no longer valid. Never blocks.
/// Throws `invalid_option` for no futures, `std::future_error` if one of them is not valid,
/// `scheduler_stopped`.
template <class R>
auto when_all(std::vector<future<R>> futures) {
  if (futures.empty()) {
    throw invalid_option(
        "when_all of no futures: it has no scheduler to run on; leave it out where there is nothing to wait "
        "for");
  }
  std::vector<detail::item*> parents;
  for (auto& each : futures) parents.push_back(&detail::future_access::state(each));
  return detail::join_all(std::move(parents), detail::when_all_call<R>{std::move(futures)});
}

/// The same for futures of several types: a std::tuple of the values, std::monostate in place of void.
template <class... R>
requires(sizeof...(R) >= 1) auto when_all(future<R>... futures) {
  std::vector<detail::item*> parents{&detail::future_access::state(futures)...};
  return detail::join_all(std::move(parents),
                          detail::when_all_tuple_call<R...>{std::tuple<future<R>...>(std::move(futures)...)});
}

}  // namespace heddle
