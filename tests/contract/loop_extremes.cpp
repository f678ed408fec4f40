// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
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

// Billions of chunks, or billions of indices in one, are left when it ends.
TEST_P(LoopExtremes, AreLeftOutAtOnceByAnError) {
  HEDDLE_ON_HOST_DEVICES_ONLY("a body that throws");
  constexpr std::int64_t many = std::int64_t{1} << 40;
  auto asked = options(2);
  asked.on_error = [](const error_event&) {};
  scheduler sched(std::move(asked));
  std::vector<index_range> left;
  loop_options how{.split = split::dynamic(1), .not_done = &left};
  EXPECT_THROW(parallel_for(sched, many, how, [](std::int64_t i) { i == 0 ? throw 5 : 0; }), int);
  EXPECT_EQ(left.front().begin, 0);
  EXPECT_EQ(left.back().end, many);
  EXPECT_THROW(parallel_for_async(sched, many, how, [](std::int64_t i) { i == 0 ? throw 5 : 0; }).get(), int);
  EXPECT_EQ(left.back().end, many);
  EXPECT_THROW(for_each_chunk(sched, many, how,
                              [](device_context&, index_range part) { part.begin == 0 ? throw 5 : 0; }),
               int);
  EXPECT_EQ(left.front().begin, 0);
  EXPECT_EQ(left.back().end, many);
}

TEST_P(LoopExtremes, AreLeftOutAtOnceByAStop) {
  HEDDLE_ON_HOST_DEVICES_ONLY("a body that the host sees");
  constexpr std::int64_t many = std::int64_t{1} << 46;
  scheduler sched(options(2));
  for (const auto& each :
       {split::dynamic(1), split::dynamic(many), split::even(), split::weighted({1, 3}), split::measured()}) {
    std::vector<index_range> left;
    for (const bool blocks : {true, false}) {
      std::stop_source stop;
      const loop_options how{.split = each, .stop = stop.get_token(), .not_done = &left};
      std::atomic<int> calls{0};
      const auto body = [&](std::int64_t) {
        if (calls.load(std::memory_order_relaxed) >= 1000) stop.request_stop();
        calls.fetch_add(1, std::memory_order_relaxed);
      };
      if (blocks) {
        EXPECT_THROW(parallel_for(sched, many, how, body), cancelled);
      } else {
        EXPECT_THROW(parallel_for_async(sched, many, how, body).get(), cancelled);
      }
      ASSERT_FALSE(left.empty());
      EXPECT_EQ(left.back().end, many);
    }
  }
  std::stop_source stop;
  std::vector<index_range> left;
  const loop_options how{.split = split::dynamic(1), .stop = stop.get_token(), .not_done = &left};
  EXPECT_THROW(for_each_chunk(sched, many, how, [&](device_context&, index_range) { stop.request_stop(); }),
               cancelled);
  EXPECT_EQ(left.back().end, many);
}

TEST_P(LoopExtremes, ChunksThatShareAnItemKeepTheirSize) {
  scheduler sched(options(2));
  constexpr std::int64_t n = 100'001;
  std::vector<int> x(n, 1);
  std::atomic<std::int64_t> chunks{0}, sum{0}, wrong{0};
  for_each_chunk(
      sched, n, {.split = split::dynamic(2)},
      [&](device_context&, index_range part, view<int>) {
        ++chunks;
        sum += part.begin;
        wrong += part.size() != (part.begin == n - 1 ? 1u : 2u) || part.begin % 2 != 0;
      },
      inout(x));
  EXPECT_EQ(chunks, 50'001);
  EXPECT_EQ(sum, std::int64_t{50'000} * 50'001);
  EXPECT_EQ(wrong, 0);
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
