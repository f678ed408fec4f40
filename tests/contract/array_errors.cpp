// SPDX-License-Identifier: Apache-2.0
// How loops over arrays fail and are refused; of scans: scan_on_arrays_errors.cpp.
#include <cstdint>
#include <utility>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ArrayErrors);

TEST_P(ArrayErrors, BeforeAFillDoNotUndoIt) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  auto asked = options(2);
  asked.on_error = [](const error_event&) {};
  scheduler sched(std::move(asked));
  distributed_array<int> a(sched, 100);
  for (int k = 0; k < 300; ++k) {
    a.fill(0);
    auto lost = parallel_for_async(
        sched, 100, [](std::int64_t, view<int>) { throw 7; }, inout(a));
    a.fill(k);
    EXPECT_EQ(a.gather(), std::vector<int>(100, k));
    EXPECT_THROW(lost.get(), int);
    EXPECT_EQ(a.gather(), std::vector<int>(100, k));
  }
}

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
