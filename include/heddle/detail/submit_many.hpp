// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "heddle/scheduler.hpp"

namespace heddle {

template <std::ranges::input_range Range>
requires detail::item_callable<std::ranges::range_value_t<Range>>
auto scheduler::submit_batch(Range&& range, const route& r) {
  using call = std::ranges::range_value_t<Range>;
  using result = detail::item_result<call>;
  constexpr bool consume =
      !std::is_lvalue_reference_v<Range> && !std::ranges::view<std::remove_cvref_t<Range>>;
  auto& to = core();  // first: a forked child must not get as far as memory
  std::vector<future<result>> handles;
  detail::new_items items;
  if constexpr (std::ranges::sized_range<Range>) {
    handles.reserve(std::ranges::size(range));
    items.expect(std::ranges::size(range));
  }
  for (auto&& f : range) {
    detail::typed_item<result, call>* it = nullptr;
    if constexpr (consume) {
      it = new detail::typed_item<result, call>(std::move(f));
    } else {
      it = new detail::typed_item<result, call>(std::forward<decltype(f)>(f));
    }
    items.add(*it);
    handles.push_back(detail::future_access::make<result>(*it));
  }
  while (!items.rest().empty()) {
    detail::submission admitted(to, r, items.rest().size());
    admitted.start(items.hand_over(admitted.admitted()));
  }
  return handles;
}

template <class F>
requires detail::item_callable<std::decay_t<F>> && std::copy_constructible<std::decay_t<F>>
auto scheduler::broadcast(F f, const route& r) {
  using result = detail::item_result<F>;
  detail::submission admitted(core(), r);
  std::vector<future<result>> handles;
  detail::new_items items;
  for (std::size_t k = 0; k < devices().size(); ++k) {
    auto* const it = new detail::typed_item<result, F>(f);
    items.add(*it);
    handles.push_back(detail::future_access::make<result>(*it));
  }
  admitted.start_everywhere(items.hand_over(devices().size()));
  return handles;
}

}  // namespace heddle
