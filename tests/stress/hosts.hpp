// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// Options for `devices` host devices.
inline heddle::scheduler_options hosts(int devices, heddle::host_mode mode = heddle::host_mode::immediate) {
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = devices;
  options.host.mode = mode;
  options.host.seed = static_cast<std::uint64_t>(devices) * 7919;
  return options;
}

/// Calls `f(options)` for each number of devices in each host mode; stops at the first fatal failure.
template <class F>
void on_every_machine(std::initializer_list<int> device_counts, F f) {
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    for (const int devices : device_counts) {
      const testing::ScopedTrace trace(__FILE__, __LINE__,
                                       std::to_string(devices) + " host devices, " +
                                           (mode == heddle::host_mode::deferred ? "deferred" : "immediate"));
      f(hosts(devices, mode));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class F>
void on_every_machine(F f) {
  on_every_machine({1, 2, 4, 8}, f);
}

}  // namespace heddle::test
