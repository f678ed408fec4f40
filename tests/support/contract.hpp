// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heddle/heddle.hpp"
#include "support/driver_mode.hpp"

namespace heddle::test {

/// One promise, on one driver. Ends by checking that nothing is left: no binding of the test's thread, no
/// device thread, no counted object, nothing on the driver's machine.
class contract : public testing::TestWithParam<driver_mode> {
 protected:
  /// Options of this driver, that read no environment.
  static scheduler_options options(int devices = 2) { return options_of(GetParam(), devices); }
  static bool on_host() { return GetParam().use == backend::host; }
  /// Host devices that put work off.
  static bool deferred() { return GetParam().mode == host_mode::deferred; }

  void SetUp() override;
  void TearDown() override;
};

std::string mode_name(const testing::TestParamInfo<driver_mode>&);

}  // namespace heddle::test

/// Declares a suite whose tests run on every driver.
#define HEDDLE_CONTRACT_SUITE(suite)              \
  class suite : public heddle::test::contract {}; \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(heddle::test::all_modes()), heddle::test::mode_name)

/// For promises that only one kind of device can keep, or be tested on.
#define HEDDLE_ON_HOST_DEVICES_ONLY(why) \
  if (!on_host()) GTEST_SKIP() << "on host devices only: " why
