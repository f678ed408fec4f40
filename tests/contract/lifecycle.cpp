// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Lifecycle);

TEST_P(Lifecycle, MayEndAtOnce) {
  for (int k = 0; k < 50; ++k) scheduler sched(options(3));
}

TEST_P(Lifecycle, ClosedTakesNoMoreItemsFromOutside) {
  scheduler sched(options(2));
  sched.close();
  sched.close();
  auto f = [p = std::make_unique<int>(3)] { return *p; };
  EXPECT_THROW((void)sched.submit(std::move(f)), scheduler_stopped);
  EXPECT_FALSE(sched.try_submit(std::move(f)).has_value());
  EXPECT_EQ(f(), 3) << "untouched";
  EXPECT_THROW((void)sched.broadcast([] {}), scheduler_stopped);
  EXPECT_EQ(sched.stats().refused, 3u);
}

// Source: tensorflow#933: tasks submitted by draining tasks are lost.
TEST_P(Lifecycle, ClosedTakesItemsOfRunningItemsUntilTheLastHasEnded) {
  std::atomic<int> runs{0};
  {
    scheduler sched(options(2));
    gate go;
    std::function<void(int)> tree = [&](int depth) {
      ++runs;
      if (depth == 0) return;
      for (int k = 0; k < 2; ++k) (void)sched.submit([&tree, depth] { tree(depth - 1); });
    };
    auto root = sched.submit([&] {
      go.wait();
      tree(9);
    });
    sched.close();
    go.open();
    sched.join();
  }
  EXPECT_EQ(runs, 1023);
}

TEST_P(Lifecycle, DrainWaitsForEveryItemAndLeavesTheSchedulerOpen) {
  scheduler sched(options(2));
  std::atomic<int> runs{0};
  for (int round = 1; round <= 20; ++round) {
    for (int k = 0; k < 50; ++k) (void)sched.submit([&](device_context& c) { c.enqueue([&] { ++runs; }); });
    sched.drain();
    ASSERT_EQ(runs, 50 * round);
  }
}

TEST_P(Lifecycle, DrainForTellsWhetherEveryItemEnded) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  EXPECT_FALSE(sched.drain_for(std::chrono::milliseconds(5)));
  EXPECT_FALSE(sched.drain_for(std::chrono::seconds(-5)));
  busy.release();
  EXPECT_TRUE(sched.drain_for(std::chrono::hours(1)));
  EXPECT_TRUE(sched.drain_for(std::chrono::seconds(0)));
  EXPECT_TRUE(sched.drain_for(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(sched.drain_for(std::chrono::hours::max()));
}

TEST_P(Lifecycle, JoinIsIdempotentAndMayBeCalledByManyAtOnce) {
  for (int round = 0; round < 20; ++round) {
    scheduler sched(options(2));
    std::atomic<int> runs{0};
    for (int k = 0; k < 50; ++k) (void)sched.submit([&] { ++runs; });
    std::vector<std::thread> joiners;
    for (int k = 0; k < 4; ++k) {
      joiners.emplace_back([&] {
        sched.join();
        EXPECT_EQ(runs, 50);
      });
    }
    for (auto& each : joiners) each.join();
    sched.join();
  }
}

TEST_P(Lifecycle, JoinedStillTellsItsDevicesAndStats) {
  scheduler sched(options(2));
  (void)sched.submit([] {});
  sched.join();
  EXPECT_EQ(sched.devices().size(), 2u);
  EXPECT_TRUE(sched.failed().empty());
  const auto stats = sched.stats();
  EXPECT_EQ(stats.devices[0].ended + stats.devices[1].ended, 1u);
}

TEST_P(Lifecycle, JoinedRefusesOrIgnoresEverythingElse) {
  scheduler sched(options(2));
  sched.join();
  EXPECT_THROW((void)sched.submit([] {}), scheduler_stopped);
  EXPECT_THROW((void)sched.submit([] {}, route::any().in_arena()), scheduler_stopped);
  EXPECT_FALSE(sched.try_submit([] {}));
  EXPECT_THROW(sched.map([](int) {}, std::vector{1}), scheduler_stopped);
  EXPECT_THROW(device_local<int>(sched, [](device_context&) { return 1; }), scheduler_stopped);
  sched.drain();
  EXPECT_TRUE(sched.drain_for(std::chrono::seconds(1)));
  sched.cancel();
  sched.close();
  sched.disable(0);
  sched.enable(0);
}

// Source: agency-library/agency#308: submitting while closing hangs.
TEST_P(Lifecycle, SubmittersThatRaceWithTheEndRunOrAreRefused) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> accepted{0};
    std::atomic<int> runs{0};
    scheduler sched(options(2));
    std::latch together(5);
    std::vector<std::thread> submitters;
    for (int t = 0; t < 4; ++t) {
      submitters.emplace_back([&] {
        together.arrive_and_wait();
        try {
          for (;;) {
            (void)sched.submit([&] { ++runs; });
            ++accepted;
          }
        } catch (const scheduler_stopped&) {
        }
      });
    }
    together.arrive_and_wait();
    sched.join();
    for (auto& each : submitters) each.join();
    ASSERT_EQ(runs, accepted);
  }
}

// Source: ClickHouse#107383: a queued task dropped unrun aborts the server on shutdown.
TEST_P(Lifecycle, DestroyedWithAThousandQueuedRunsThemAll) {
  std::vector<future<int>> all;
  {
    scheduler sched(options(2));
    for (int k = 0; k < 1000; ++k) {
      all.push_back(sched.submit([k, alive = counted()] { return k; }, k % 3 ? route::any() : route::on(1)));
    }
  }
  EXPECT_EQ(counted::living(), 0);
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
}

TEST_P(Lifecycle, DestroyedAfterCancelEndsAThousandQueuedAsCancelled) {
  std::vector<future<void>> all;
  std::vector<death_record> records(1000);
  {
    scheduler sched(options(1));
    const occupied_device busy(sched, 0);
    for (auto& record : records) all.push_back(sched.submit([m = mortal(record)] {}));
    sched.cancel();
  }
  for (auto& each : all) EXPECT_THROW(each.get(), cancelled);
  for (const auto& record : records) EXPECT_EQ(record.deaths, 1);
}

TEST_P(Lifecycle, DestroyedRightAfterArenaItemsTouchesNothingFreed) {
  for (int round = 0; round < 200; ++round) {
    scheduler sched(options(2));
    for (int k = 0; k < 8; ++k) (void)sched.submit([alive = counted()] {}, route::on(k % 2).in_arena());
    (void)sched.submit([] {}, route::any().in_arena());
    if (round % 2) sched.enable(round % 4 == 1 ? 0 : 1);
  }
}

}  // namespace
}  // namespace heddle::test
