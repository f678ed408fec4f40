// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iosfwd>
#include <string>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// How a driver is set up for one run of the contract: each promise holds for every one of them.
struct driver_mode {
  std::string name;
  host_mode mode = host_mode::immediate;
  std::uint64_t seed = 0;
};

/// Its name, for the test runner's lists.
void PrintTo(const driver_mode&, std::ostream*);

/// One promise, on one driver. Ends by checking that nothing is left: no binding of the test's thread, no
/// device thread, no counted object.
class contract : public testing::TestWithParam<driver_mode> {
 protected:
  /// Options of this driver, that read no environment.
  static scheduler_options options(int devices = 2);
  static bool deferred() { return GetParam().mode == host_mode::deferred; }

  void SetUp() override;
  void TearDown() override;
};

/// Immediate, and deferred with two orders of the streams' turns.
std::vector<driver_mode> all_modes();
std::string mode_name(const testing::TestParamInfo<driver_mode>&);

}  // namespace heddle::test

/// Declares a suite whose tests run on every driver.
#define HEDDLE_CONTRACT_SUITE(suite)              \
  class suite : public heddle::test::contract {}; \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(heddle::test::all_modes()), heddle::test::mode_name)
