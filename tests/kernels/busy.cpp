// SPDX-License-Identifier: Apache-2.0
#include "kernels/busy.hpp"

#include <chrono>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

HEDDLE_CONTRACT_SUITE(Busy);

TEST_P(Busy, HoldsTheFutureForItsTime) {
  scheduler sched(options(1));
  const auto start = std::chrono::steady_clock::now();
  sched.submit([](device_context& c) { kernels::busy(c, 20ms); }).get();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
}

TEST_P(Busy, IsDoneAtOnceForNoTime) {
  scheduler sched(options(1));
  sched.submit([](device_context& c) { kernels::busy(c, 0ns); }).get();
}

}  // namespace
}  // namespace heddle::test
