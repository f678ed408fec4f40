// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(QueueCapacity);

TEST_P(QueueCapacity, RejectsWhatDoesNotFit) {
  auto chosen = options(1);
  chosen.queue_capacity = 3;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  std::vector<future<void>> all;
  for (int k = 0; k < 3; ++k) all.push_back(sched.submit([] {}));
  auto f = [p = std::make_unique<int>(6)] { return *p; };
  EXPECT_THROW((void)sched.submit(std::move(f)), queue_full);
  EXPECT_FALSE(sched.try_submit(std::move(f)));
  EXPECT_EQ(f(), 6) << "untouched";
  EXPECT_EQ(sched.stats().refused, 2u);
  busy.release();
  for (auto& each : all) each.get();
  EXPECT_EQ(sched.submit(std::move(f)).get(), 6);
}

TEST_P(QueueCapacity, IsTheSameAfterObjectsOfDevicesHaveGone) {
  auto chosen = options(2);
  chosen.queue_capacity = 2;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  for (int k = 0; k < 3; ++k) {
    {
      const device_local<int> objects(sched, [](device_context& c) { return c.id(); });
    }
    sched.drain();
  }
  const occupied_device busy(sched, 0);
  auto first = sched.submit([] {}, route::on(0));
  auto second = sched.submit([] {}, route::on(0));
  EXPECT_EQ(sched.stats().queued, 2u);
  EXPECT_THROW((void)sched.submit([] {}, route::on(0)), queue_full);
}

TEST_P(QueueCapacity, OfAnySizeLeavesTheEndAnEnd) {
  auto chosen = options(1);
  chosen.queue_capacity = ~std::size_t{0};
  scheduler sched(chosen);
  sched.submit([] {}).get();
  sched.close();
  EXPECT_THROW((void)sched.submit([] {}), scheduler_stopped);
  EXPECT_FALSE(sched.try_submit([] {}));
}

TEST_P(QueueCapacity, TrySubmitNeverBlocks) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  const occupied_device busy(sched, 0);
  auto first = sched.try_submit([] { return 1; });
  ASSERT_TRUE(first);
  auto f = [p = std::make_unique<int>(6)] { return *p; };
  EXPECT_FALSE(sched.try_submit(std::move(f)));
  EXPECT_EQ(f(), 6);
}

TEST_P(QueueCapacity, WaitsForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 2;
  scheduler sched(chosen);
  std::atomic<int> runs{0};
  std::vector<std::thread> submitters;
  for (int t = 0; t < 4; ++t) {
    submitters.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        (void)sched.submit([&] { ++runs; });
        EXPECT_LE(sched.stats().queued, 2u + 3u) << "and the others that begin to wait";
      }
    });
  }
  for (auto& each : submitters) each.join();
  sched.drain();
  EXPECT_EQ(runs, 800);
}

TEST_P(QueueCapacity, MakesRoomForCancelledItems) {
  auto chosen = options(1);
  chosen.queue_capacity = 2;
  scheduler sched(chosen);
  for (int round = 0; round < 50; ++round) {
    auto a = sched.submit([] {});
    a.cancel();
  }
  sched.drain();
  EXPECT_EQ(sched.stats().queued, 0u);
}

// Source: OSGeo/gdal#6389: submit from inside a job blocks when the pool is full.
TEST_P(QueueCapacity, DoesNotLetAnItemWaitForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  gate running;
  gate filled;
  auto f = sched.submit([&] {
    running.open();
    filled.wait();
    (void)sched.submit([] {});
  });
  running.wait();
  auto filler = sched.submit([] {});
  filled.open();
  EXPECT_THROW(f.get(), queue_full);
}

TEST_P(QueueCapacity, DoesNotLetAnItemUnderAGuardWaitForRoomEither) {
  auto chosen = options(2);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  gate running;
  gate filled;
  auto f = sched.submit(
      [&] {
        const device_guard guard(sched, 1);
        running.open();
        filled.wait();
        (void)sched.submit([] {}, route::on(0));
      },
      route::on(0));
  running.wait();
  auto filler = sched.submit([] {}, route::on(0));
  filled.open();
  EXPECT_THROW(f.get(), queue_full);
}

TEST_P(QueueCapacity, DoesNotBoundContinuations) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  auto f = sched.submit([] { return 0; });
  for (int k = 0; k < 50; ++k) f = f.then([](int x) { return x + 1; });
  busy.release();
  EXPECT_EQ(f.get(), 50);
}

TEST_P(QueueCapacity, IsNoBoundForTheFurtherPartsOfALoop) {
  auto asked = options(3);
  const error_log log;
  asked.queue_capacity = 1;
  asked.full = when_full::reject;
  asked.on_error = log;
  {
    scheduler sched(asked);
    std::vector<int> x(1000, 0);
    const auto more = [] HEDDLE_HOST_DEVICE(std::int64_t i, view<int> y) { ++y[i]; };
    const auto loops = [&](const loop_options& how) {
      parallel_for(sched, 1000, how, more, inout(x));
      sched.drain();  // helpers that were not needed have left the queue
      parallel_for_async(sched, 1000, how, more, inout(x)).get();
      for_each_chunk(
          sched, 1000, how, [](device_context&, index_range, view<int>) {}, inout(x));
      for_each_chunk_async(
          sched, 1000, how, [](device_context&, index_range, view<int>) {}, inout(x))
          .get();
    };
    for (const auto& each : {split::even(), split::measured(), split::dynamic(10)}) loops({.split = each});
    EXPECT_EQ(x, std::vector<int>(1000, 6));
    sched.submit([&] { parallel_for_async(sched, 1000, {.split = split::even()}, more, inout(x)).get(); })
        .get();
    EXPECT_EQ(x, std::vector<int>(1000, 7));

    // Of one that has no room at all nothing runs.
    std::vector<std::unique_ptr<occupied_device>> busy;
    for (int id = 0; id < 3; ++id) busy.push_back(std::make_unique<occupied_device>(sched, id));
    auto fills = sched.submit([] {});
    EXPECT_THROW(parallel_for_async(sched, 1000, {.split = split::even()}, more, inout(x)), queue_full);
    EXPECT_THROW(for_each_chunk(
                     sched, 1000, [](device_context&, index_range, view<int>) {}, inout(x)),
                 queue_full);
    busy.clear();
    fills.get();
    EXPECT_EQ(x, std::vector<int>(1000, 7));
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(QueueCapacity, CloseFreesASubmitterThatWaitsForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  auto filler = sched.submit([] {});
  std::atomic<pid_t> number{0};
  std::thread submitter([&] {
    number = this_thread_number();
    try {
      (void)sched.submit([] {});
    } catch (const scheduler_stopped&) {
    }
  });
  EXPECT_TRUE(eventually([&] { return number != 0 && sleeps(number); }));
  sched.close();
  busy.release();
  submitter.join();
  sched.join();
}

}  // namespace
}  // namespace heddle::test
