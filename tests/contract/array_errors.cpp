// SPDX-License-Identifier: Apache-2.0
// What loops over arrays refuse; scans: scan_on_arrays_errors.cpp.
#include <cstdint>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ArrayErrors);

TEST_P(ArrayErrors, RefuseOneArrayAsTwoArgumentsWhereTheLoopWouldRaceWithItself) {
  scheduler sched(options(2));
  array_options one;
  one.halo = 1;
  distributed_array<int> a(sched, 100, one);
  a.fill(1);
  const auto body = [] HEDDLE_HOST_DEVICE(std::int64_t, view<const int>, view<int>) {};
  const auto writes = [] HEDDLE_HOST_DEVICE(std::int64_t, view<int>, view<int>) {};
  EXPECT_THROW(parallel_for(sched, 100, body, with_halo(a), out(a)), invalid_option);
  EXPECT_THROW(parallel_for_async(sched, 100, writes, out(a), inout(a)), invalid_option);
  EXPECT_NO_THROW(parallel_for(
      sched, 100, [] HEDDLE_HOST_DEVICE(std::int64_t i, view<const int> x, view<int> y) { y[i] = x[i] + 1; },
      in(a), inout(a)));
  EXPECT_EQ(a.gather(), std::vector<int>(100, 2));
}

}  // namespace
}  // namespace heddle::test
