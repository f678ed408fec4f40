// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.hpp"

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/reduce_body.hpp"
#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Reduce);

double sum_on(scheduler& sched, const std::vector<float>& x) {
  std::vector<double> sum(1, -1);
  sched
      .submit([&](device_context& c) {
        const auto there = c.scratch<double>(1);
        kernels::reduce(c, uploaded(c, x), there.first<1>());
        c.copy(sum, there);
      })
      .get();
  return sum[0];
}

// The order of additions as the header of the bodies tells it, lane by lane.
double sum_in_order(const std::vector<float>& x) {
  double blocks[kernels::reduce_blocks];
  for (int block = 0; block < kernels::reduce_blocks; ++block) {
    double lanes[kernels::reduce_threads];
    for (int lane = 0; lane < kernels::reduce_threads; ++lane) {
      lanes[lane] = kernels::lane_sum(x.data(), static_cast<std::int64_t>(x.size()), block, lane);
    }
    blocks[block] = kernels::tree_sum(lanes);
  }
  return kernels::tree_sum(blocks);
}

TEST_P(Reduce, GivesTheSameBitsEverywhere) {
  scheduler sched(options(1));
  for (const std::size_t n : {0, 1, 255, 257, 65536, 65537, 1000003}) {
    const auto x = numbers(n);
    const double sum = sum_on(sched, x);
    EXPECT_EQ(sum, sum_in_order(x)) << n;
    double naive = 0;
    for (const float each : x) naive += static_cast<double>(each);
    EXPECT_NEAR(sum, naive, 1e-9 * static_cast<double>(n)) << n;
  }
}

TEST_P(Reduce, AddsWholeNumbersExactly) {
  scheduler sched(options(1));
  std::vector<float> x(100000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(sum_on(sched, x), 99999.0 * 100000 / 2);
}

}  // namespace
}  // namespace heddle::test
