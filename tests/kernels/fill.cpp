// SPDX-License-Identifier: Apache-2.0
#include "kernels/fill.hpp"

#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Fill);

TEST_P(Fill, WritesItsRangeAndNothingElse) {
  scheduler sched(options(1));
  for (const std::size_t n : {0, 1, 256, 100003}) {
    std::vector<float> result(n + 2, -1);
    sched
        .submit([&](device_context& c) {
          const auto there = uploaded(c, result);
          kernels::fill(c, 2.5F, there.subspan(1, n));
          c.copy(result, there);
        })
        .get();
    std::vector<float> expected(n + 2, 2.5F);
    expected.front() = expected.back() = -1;
    EXPECT_EQ(result, expected) << n;
  }
}

}  // namespace
}  // namespace heddle::test
