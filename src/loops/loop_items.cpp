// SPDX-License-Identifier: Apache-2.0
#include "loops/loop_items.hpp"

#include <chrono>
#include <string>

#include "heddle/detail/waiting.hpp"
#include "heddle/error.hpp"
#include "work/current.hpp"

namespace heddle::detail {

counted_loop::counted_loop(scheduler_core& core, const char* name) : core_(core) {
  if (core.group.books.enter_call(core.called_from_inside())) return;
  core.group.books.refuse();
  throw scheduler_stopped(std::string(name) +
                          " on a scheduler that is closed: call it before close(), or inside items");
}

std::exception_ptr wait_for_part(future<void>& part) noexcept {
  item& it = future_access::state(part);
  std::exception_ptr refusal;
  wait_to_the_end(it, refusal);
  try {
    part.get();
  } catch (...) {
    return refusal ? refusal : std::current_exception();
  }
  return nullptr;
}

}  // namespace heddle::detail
