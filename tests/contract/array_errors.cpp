// SPDX-License-Identifier: Apache-2.0
// What loops over arrays refuse; scans: scan_on_arrays_errors.cpp.
#include <cstdint>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

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

TEST_P(ArrayErrors, ARefusalLeavesTheElementsAsTheyWere) {
  auto chosen = options(2);
  chosen.queue_capacity = 4;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  distributed_array<int> a(sched, 100);
  const std::vector<int> ones(100, 1), twos(100, 2);
  a.scatter(ones);
  sched.drain();
  {
    occupied_device first(sched, 0), second(sched, 1);
    std::vector<future<void>> in_the_way;
    for (int k = 0; k < 4; ++k) in_the_way.push_back(sched.submit([] {}));
    EXPECT_THROW(a.fill(7), queue_full);
    EXPECT_THROW(a.scatter(twos), queue_full);
    first.release();
    second.release();
    for (auto& each : in_the_way) each.get();
  }
  sched.drain();
  EXPECT_EQ(a.gather(), ones);
}

// Each call waits for room once, with none in hand.
TEST_P(ArrayErrors, ASmallQueueIsNone) {
  for (const std::size_t capacity : {1u, 2u, 3u}) {
    auto chosen = options(3);
    chosen.queue_capacity = capacity;
    scheduler sched(chosen);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int k = 0; k < 10; ++k) {
          distributed_array<int> a(sched, 100);
          a.fill(1);
          parallel_for(
              sched, 100, [] HEDDLE_HOST_DEVICE(std::int64_t i, view<int> x) { x[i] += 1; }, inout(a));
          EXPECT_EQ(a.gather(), std::vector<int>(100, 2));
        }
      });
    }
    for (auto& each : threads) each.join();
  }
}

}  // namespace
}  // namespace heddle::test
