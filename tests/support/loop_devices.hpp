// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/contract.hpp"

namespace heddle::test {

/// Calls `f(scheduler)` with one to nine devices; with at most eight where they are GPUs.
template <class F>
void for_device_counts(const driver_mode& mode, F f) {
  for (int devices = 1; devices <= (mode.use == backend::host ? 9 : 8); ++devices) {
    SCOPED_TRACE(std::to_string(devices) + " devices");
    scheduler sched(options_of(mode, devices));
    f(sched);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Every way to split a loop over the scheduler's devices.
inline std::vector<loop_options> all_splits(const scheduler& s, std::int64_t n) {
  std::vector<loop_options> all(6);
  all[1].split = split::even();
  all[2].split = split::dynamic();
  all[3].split = split::dynamic(n / 7 + 1);
  all[4].split = split::weighted(std::vector<double>(s.devices().size(), 0.5));
  std::vector<double> uneven;
  for (std::size_t k = 0; k < s.devices().size(); ++k)
    uneven.push_back(k % 3 == 1 ? 0. : static_cast<double>(k + 1));
  all[5].split = split::weighted(uneven);
  return all;
}

}  // namespace heddle::test
