// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

#include "heddle/scheduler.hpp"

namespace heddle {

namespace detail {

/// Held while one broadcast is queued, so that all devices see broadcasts in one order.
std::unique_lock<std::mutex> lock_broadcasts(scheduler_core&);

/// The same route, but to one device of the scheduler, by its place.
route pinned_like(const route&, const scheduler_core&, std::size_t place);

}  // namespace detail

template <std::ranges::input_range Range>
requires detail::item_callable<std::ranges::range_value_t<Range>>
auto scheduler::submit_batch(Range&& range, const route& r) {
  using call = std::ranges::range_value_t<Range>;
  using result = detail::item_result<call>;
  constexpr bool consume = !std::is_lvalue_reference_v<Range> && !std::ranges::borrowed_range<Range>;
  std::vector<future<result>> handles;
  std::vector<detail::item*> items;
  for (auto&& f : range) {
    detail::typed_item<result, call>* it = nullptr;
    if constexpr (consume) {
      it = new detail::typed_item<result, call>(std::move(f));
    } else {
      it = new detail::typed_item<result, call>(std::forward<decltype(f)>(f));
    }
    items.push_back(it);
    handles.push_back(detail::future_access::make<result>(*it));
  }
  std::size_t begun = 0;
  try {
    while (begun < items.size()) {
      detail::submission admitted(core(), r, items.size() - begun);
      const std::size_t count = admitted.admitted();
      const auto part = std::span<detail::item* const>(items).subspan(begun, count);
      begun += count;
      admitted.start(part);
    }
  } catch (...) {
    for (; begun < items.size(); ++begun) detail::discard(*items[begun]);
    throw;
  }
  return handles;
}

template <class F>
requires detail::item_callable<std::decay_t<F>> && std::copy_constructible<std::decay_t<F>>
auto scheduler::broadcast(F f, const route& r) {
  std::vector<future<detail::item_result<F>>> handles;
  const auto lock = detail::lock_broadcasts(core());
  for (std::size_t k = 0; k < devices().size(); ++k)
    handles.push_back(submit(F(f), detail::pinned_like(r, core(), k)));
  return handles;
}

}  // namespace heddle
