// SPDX-License-Identifier: Apache-2.0
#include "kernels/axpy.hpp"

#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Axpy);

TEST_P(Axpy, GivesTheSameBitsEverywhere) {
  scheduler sched(options(1));
  for (const std::size_t n : {0, 1, 255, 256, 257, 300001}) {
    const auto x = numbers(n, 1);
    const auto y = numbers(n, 2);
    std::vector<float> result(n);
    sched
        .submit([&](device_context& c) {
          const auto there = uploaded(c, y);
          kernels::axpy(c, 1.7F, uploaded(c, x), there);
          c.copy(result, there);
        })
        .get();
    for (std::size_t i = 0; i < n; ++i) {
      const volatile float product = 1.7F * x[i];  // rounded here, whatever the compiler would like
      ASSERT_EQ(result[i], product + y[i]) << i;
    }
  }
}

TEST_P(Axpy, RefusesRangesOfTwoSizes) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        const auto x = c.scratch<float>(3);
        EXPECT_THROW(kernels::axpy(c, 1, x, x.first(2)), invalid_option);
      })
      .get();
}

}  // namespace
}  // namespace heddle::test
