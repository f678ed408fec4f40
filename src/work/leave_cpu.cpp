// SPDX-License-Identifier: Apache-2.0
#include "work/leave_cpu.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace heddle::detail {

namespace {

// By a mask without this CPU, which is taken back at once. Nothing is done on machines with more CPUs than a
// cpu_set_t holds, where the system refuses the mask.
bool leave_this_cpu() noexcept {
  cpu_set_t all;
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  cpu_set_t others = all;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof others, &others) != 0) return false;
  ::sched_setaffinity(0, sizeof all, &all);
  return true;
}

}  // namespace

bool cpu_leaver::met() noexcept {
  const auto now = std::chrono::steady_clock::now();
  meetings_ = now - std::exchange(last_, now) < close_together ? meetings_ + 1 : 1;
  if (meetings_ < meetings_before_move || now < next_) return false;
  meetings_ = 0;
  // Sooner again than after the longest rest, it did not help for long.
  rest_ = now - next_ > longest_rest ? shortest_rest : std::min(rest_ * 2, longest_rest);
  next_ = now + rest_;
  return leave_this_cpu();
}

}  // namespace heddle::detail
