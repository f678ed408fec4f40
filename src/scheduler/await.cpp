// SPDX-License-Identifier: Apache-2.0
#include "heddle/await.hpp"

#include "device/continuations.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"
#include "work/item.hpp"

namespace heddle::detail {

bool resume_after(item& it, std::coroutine_handle<> suspended) {
  auto resume = [suspended] { suspended.resume(); };
  using resume_item = typed_item<void, decltype(resume)>;
  const auto* const here = bound();
  // The coroutine's own scheduler where it is on one, which may be another than the future's.
  submission admitted =
      here != nullptr ? submission(here->group_serial, here->index) : submission(it, nullptr);
  auto* const next = new resume_item(std::move(resume));
  next->resumes_coroutine = true;
  auto handle = future_access::make<void>(*next);
  admitted.prepare_follower(*next);
  if (!attach(it, *next)) {
    discard(*next);
    return false;
  }
  admitted.handed_over();  // the coroutine may run by now, elsewhere; only this stack is touched
  return true;
}

}  // namespace heddle::detail
