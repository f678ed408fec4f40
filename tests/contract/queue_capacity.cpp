// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
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
        EXPECT_LE(sched.stats().queued, 2u);
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
