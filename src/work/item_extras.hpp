// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "heddle/detail/item.hpp"
#include "heddle/detail/operation.hpp"
#include "heddle/future.hpp"

namespace heddle::detail {

/// What few items have: allocated for those alone.
struct item_extras {
  std::string label;
  std::stop_token stop;
  std::optional<std::stop_callback<std::function<void()>>>
      on_stop;                                                    // gone before the queue lets go of the item
  std::optional<std::chrono::steady_clock::time_point> deadline;  // fixed once the item is queued
  std::optional<item_times> times;
  std::vector<item*> waits_for_all;  // the items that a when_all joins
  std::function<bool()> cancel;      // called in place of cancelling it; whether that was in time
};

/// An object that lives until the item's stream work is done.
struct kept_object {
  kept_object* next;
  operation owner;
};

inline item_extras& extras_of(item& it) {
  if (!it.extras) it.extras.reset(new item_extras);
  return *it.extras;
}

}  // namespace heddle::detail
