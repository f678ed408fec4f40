// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(LoopCancel);

TEST_P(LoopCancel, IsNotReadyWhileAPartRuns) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  error_log log;
  auto asked = options(2);
  asked.on_error = log;
  {
    scheduler sched(std::move(asked));
    const occupied_device busy(sched, 1);
    gate go;
    std::atomic<int> running{0}, done{0};
    std::vector<index_range> left;
    loop_options how;
    how.split = split::dynamic(1);
    how.not_done = &left;
    auto loop = parallel_for_async(sched, 100, how, [&](std::int64_t) {
      ++running;
      go.wait();
      ++done;
    });
    while (running == 0) std::this_thread::yield();
    EXPECT_TRUE(loop.cancel()) << "the part of the busy device has not begun";
    EXPECT_FALSE(loop.ready());
    go.open();
    EXPECT_THROW(loop.get(), cancelled);
    EXPECT_EQ(done, running) << "no body runs any more";
    std::int64_t not_done = 0;
    for (const auto& each : left) not_done += static_cast<std::int64_t>(each.size());
    EXPECT_EQ(not_done, 100 - done);
    EXPECT_LT(done, 100);
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(LoopCancel, OnceAllPartsHaveBegunDoesNothing) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  scheduler sched(options(1));
  gate go;
  std::atomic<int> running{0};
  std::atomic<int> sum{0};
  auto loop = parallel_for_async(sched, 10, [&](std::int64_t i) {
    ++running;
    go.wait();
    sum += static_cast<int>(i);
  });
  while (running == 0) std::this_thread::yield();
  EXPECT_FALSE(loop.cancel());
  go.open();
  loop.get();
  EXPECT_EQ(sum, 45);
}

TEST_P(LoopCancel, OfAReductionIsThatOfItsLoop) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  scheduler sched(options(1));
  occupied_device busy(sched, 0);
  std::atomic<int> calls{0};
  auto sum = parallel_reduce_async(
      sched, 100, 0, [](int a, int b) { return a + b; }, [&](std::int64_t) { return ++calls; });
  auto chunks = for_each_chunk_async(sched, 100, [&](device_context&, index_range) { ++calls; });
  EXPECT_TRUE(sum.cancel());
  EXPECT_TRUE(chunks.cancel());
  busy.release();
  EXPECT_THROW(sum.get(), cancelled);
  EXPECT_THROW(chunks.get(), cancelled);
  sched.drain();
  EXPECT_EQ(calls, 0);
}

TEST_P(LoopCancel, LeavesAnArrayUndefinedAndItsOwnElse) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 1000), b(sched, 1000);
  a.fill(1);
  b.fill(2);
  const auto triple = [] HEDDLE_HOST_DEVICE(std::int64_t i, view<int> x) { x[i] *= 3; };
  {
    const occupied_device busy(sched, 0);
    auto loop = parallel_for_async(sched, 1000, triple, inout(a));
    EXPECT_TRUE(loop.cancel());
    auto next = parallel_for_async(sched, 1000, triple, inout(b));
    EXPECT_THROW(loop.get(), cancelled);
  }
  EXPECT_THROW((void)a.gather(), cancelled);
  EXPECT_EQ(b.gather(), std::vector<int>(1000, 6));
  a.fill(4);
  parallel_for(sched, 1000, triple, inout(a));
  EXPECT_EQ(a.gather(), std::vector<int>(1000, 12));
}

TEST_P(LoopCancel, ByTheSchedulerTellsWhatIsNotDone) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  error_log log;
  auto asked = options(2);
  asked.on_error = log;
  {
    scheduler sched(std::move(asked));
    std::vector<index_range> left;
    loop_options how;
    how.split = split::even();
    how.not_done = &left;
    occupied_device busy(sched, 0), also(sched, 1);
    auto loop = parallel_for_async(sched, 100, how, [](std::int64_t) { ADD_FAILURE(); });
    sched.cancel();
    busy.release();
    also.release();
    EXPECT_THROW(loop.get(), cancelled);
    EXPECT_EQ(left, (std::vector<index_range>{{0, 100}}));
  }
  EXPECT_EQ(log.size(), 0u);
}

}  // namespace
}  // namespace heddle::test
