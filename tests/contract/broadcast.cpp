// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/brittle.hpp"
#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Broadcast);

TEST_P(Broadcast, RunsOnEveryDeviceInTheOrderOfDevices) {
  auto chosen = options(3);
  chosen.ids = {9, 4, 6};
  scheduler sched(chosen);
  auto all = sched.broadcast([](device_context& c) { return c.id(); });
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].get(), 9);
  EXPECT_EQ(all[1].get(), 4);
  EXPECT_EQ(all[2].get(), 6);
}

TEST_P(Broadcast, RefusesARouteToOneDevice) {
  scheduler sched(options(2));
  EXPECT_THROW((void)sched.broadcast([] {}, route::on(1)), invalid_option);
  EXPECT_THROW((void)sched.broadcast([] {}, route::key(7)), invalid_option);
  sched.drain();
  EXPECT_EQ(sched.broadcast([] {}, route::any().label("all")).size(), 2u);
}

TEST_P(Broadcast, ReachesDisabledDevices) {
  scheduler sched(options(2));
  sched.disable(0);
  auto all = sched.broadcast([] { return this_device::id(); });
  EXPECT_EQ(all[0].get(), 0);
}

TEST_P(Broadcast, RunsACopyOfItsOwnOnEachDevice) {
  scheduler sched(options(4));
  int sum = 0;
  for (auto& each : sched.broadcast([n = 0]() mutable { return ++n; })) sum += each.get();
  EXPECT_EQ(sum, 4);
}

TEST_P(Broadcast, FailsOnOneDeviceOnly) {
  scheduler sched(options(3));
  auto all = sched.broadcast([](device_context& c) {
    if (c.id() == 1) throw std::runtime_error("one");
    return c.id();
  });
  EXPECT_EQ(all[0].get(), 0);
  EXPECT_THROW(all[1].get(), std::runtime_error);
  EXPECT_EQ(all[2].get(), 2);
}

TEST_P(Broadcast, OfTwoThreadsStartInOneOrderOnAllDevices) {
  scheduler sched(options(3));
  std::vector<std::vector<int>> seen(3);  // each by its own device thread
  std::latch together(4);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&, t] {
      together.arrive_and_wait();
      for (int k = 0; k < 100; ++k) {
        const int number = t * 1000 + k;
        for (auto& each : sched.broadcast([&seen, number](device_context& c) {
               seen[static_cast<std::size_t>(c.id())].push_back(number);
             })) {
          each.get();
        }
      }
    });
  }
  for (auto& each : callers) each.join();
  EXPECT_EQ(seen[0].size(), 400u);
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
}

TEST_P(Broadcast, IsRefusedWholeByAFullQueue) {
  auto chosen = options(2);
  chosen.queue_capacity = 1;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  std::atomic<int> runs{0};
  future<void> filler;
  {
    const occupied_device first(sched, 0);
    const occupied_device second(sched, 1);
    filler = sched.submit([] {}, route::on(1));
    EXPECT_THROW((void)sched.broadcast([&runs] { ++runs; }), queue_full);
  }
  sched.drain();
  EXPECT_EQ(runs, 0);
}

TEST_P(Broadcast, GoesWholeIntoAQueueSmallerThanTheDevicesAreMany) {
  auto chosen = options(4);
  chosen.queue_capacity = 1;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  std::atomic<int> runs{0};
  for (auto& each : sched.broadcast([&runs] { ++runs; })) each.get();
  EXPECT_EQ(runs, 4);
  sched.drain();
  EXPECT_EQ(sched.stats().queued, 0u);
}

TEST_P(Broadcast, LeavesNothingBehindWhenACopyThrows) {
  scheduler sched(options(3));
  for (int copies = 0; copies < 3; ++copies) {
    int left = copies;
    EXPECT_THROW((void)sched.broadcast(brittle(&left)), int);
    EXPECT_EQ(counted::living(), 0) << copies;
    EXPECT_EQ(sched.stats().pending, 0u);
  }
}

TEST_P(Broadcast, ThatWaitsForRoomDoesNotBlockItemsThatBroadcast) {
  auto chosen = options(2);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  gate go;
  gate running;
  auto item = sched.submit(
      [&] {
        running.open();
        go.wait();
        try {
          for (auto& each : sched.broadcast([] {})) each.get();
        } catch (const queue_full&) {  // fair: there may be no room, and an item may not wait for it
        }
      },
      route::on(0));
  running.wait();
  auto filler = sched.submit([] {}, route::on(0));
  std::atomic<pid_t> number{0};
  std::thread caller([&] {
    number = this_thread_number();
    for (auto& each : sched.broadcast([] {})) each.get();
  });
  EXPECT_TRUE(eventually([&] { return number != 0 && sleeps(number); }));
  go.open();
  item.get();
  filler.get();
  caller.join();
}

}  // namespace
}  // namespace heddle::test
