// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(LoopExtremes);

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

struct count_up {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, view<int> x) const { ++x[i]; }
};

TEST_P(LoopExtremes, AChunkLargerThanTheLoopIsTheLoop) {
  scheduler sched(options(3));
  for (const std::int64_t chunk : {std::int64_t{101}, most / 2, most - 1, most}) {
    loop_options how;
    how.split = split::dynamic(chunk);
    std::vector<int> x(100, 0);
    parallel_for(sched, 100, how, count_up(), inout(x));
    parallel_for_async(sched, 100, how, count_up(), inout(x)).get();
    for_each_chunk(
        sched, 100, how,
        [](device_context& c, index_range part, view<int> mine) {
          c.enqueue([=] {
            for (std::int64_t i = part.begin; i < part.end; ++i) ++mine[i];
          });
        },
        inout(x));
    EXPECT_EQ(x, std::vector<int>(100, 3)) << chunk;
  }
}

TEST_P(LoopExtremes, AHaloWiderThanTheArrayIsTheArray) {
  scheduler sched(options(3));
  for (const std::int64_t halo : {std::int64_t{3000}, most / 2, most}) {
    array_options wide;
    wide.halo = halo;
    distributed_array<int> from(sched, extents{1000, 3}, wide);
    distributed_array<int> to(sched, extents{1000, 3});
    from.fill(1);
    parallel_for(
        sched, extents{1000, 3},
        [] HEDDLE_HOST_DEVICE(std::int64_t y, std::int64_t x, view<const int> a, view<int> b) {
          b(y, x) = a(999 - y, x) + a(0, 0);
        },
        with_halo(from), out(to));
    EXPECT_EQ(to.gather(), std::vector<int>(3000, 2)) << halo;
  }
}

// Source: the kind of sizes at the type's end that overflow when they are rounded up.
TEST_P(LoopExtremes, WhatIsNotDoneReachesToTheLastIndex) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  auto asked = options(3);
  asked.on_error = [](const error_event&) {};
  scheduler sched(std::move(asked));
  std::vector<index_range> left;
  loop_options how;
  how.not_done = &left;
  const auto bad = [](std::int64_t) -> int { throw 5; };
  for (const auto& each : {split::measured(), split::even(), split::dynamic(std::int64_t{1} << 50)}) {
    how.split = each;
    EXPECT_THROW(parallel_for(sched, most, how, [&](std::int64_t i) { (void)bad(i); }), int);
    EXPECT_EQ(left, (std::vector<index_range>{{0, most}}));
    EXPECT_THROW(parallel_reduce(
                     sched, most, how, 0, [](int a, int b) { return a + b; }, bad),
                 int);
    EXPECT_EQ(left, (std::vector<index_range>{{0, most}}));
    EXPECT_THROW(for_each_chunk(sched, most, how, [&](device_context&, index_range) { (void)bad(0); }), int);
    EXPECT_EQ(left, (std::vector<index_range>{{0, most}}));
  }
}

TEST_P(LoopExtremes, AnEmptyRangeOverlapsNothing) {
  scheduler sched(options(2));
  std::vector<int> x(100, 0);
  parallel_for(
      sched, 100, [] HEDDLE_HOST_DEVICE(std::int64_t i, view<int> y, view<const int>) { ++y[i]; }, inout(x),
      whole(std::span(x).subspan(50, 0)));
  EXPECT_EQ(x, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace heddle::test
