// SPDX-License-Identifier: Apache-2.0
#include "loops/loop_parts.hpp"

#include <algorithm>

#include "work/item.hpp"

namespace heddle::detail {

std::vector<item*> loop_parts::items() const {
  std::vector<item*> all;
  for (const auto& each : parts_) all.push_back(&future_access::state(each));
  return all;
}

bool loop_parts::cancel() {
  const std::lock_guard lock(mutex_);
  const bool some = std::any_of(parts_.begin(), parts_.end(),
                                [](const auto& each) { return is_unstarted(future_access::state(each)); });
  if (!some) return false;
  if (stop_) stop_();  // first: they would take over what the others leave
  for (auto& each : parts_) each.cancel();
  return true;
}

std::vector<future<void>> loop_parts::take() noexcept {
  const std::lock_guard lock(mutex_);
  stop_ = {};
  return std::exchange(parts_, {});
}

part_end end_of(future<void>& part) noexcept {
  part_end end;
  try {
    end.unstarted = !part.ran_on();
    part.get();
    end.unstarted = false;
  } catch (...) {
    end.error = std::current_exception();
  }
  return end;
}

}  // namespace heddle::detail
