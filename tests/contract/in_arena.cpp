// SPDX-License-Identifier: Apache-2.0
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(InArena);

TEST_P(InArena, RunsSeveralAtOnce) {
  if (tbb::info::default_concurrency() < 3) GTEST_SKIP() << "TBB has less than two workers on this machine";
  auto chosen = options(1);
  chosen.arena_threads = 6;
  scheduler sched(chosen);
  std::latch together(2);
  auto one = sched.submit([&] { together.arrive_and_wait(); }, route::on(0).in_arena());
  auto two = sched.submit([&] { together.arrive_and_wait(); }, route::on(0).in_arena());
  one.get();
  two.get();
}

TEST_P(InArena, RunsWhileTheDeviceThreadIsBusy) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] { return this_device::id(); }, route::on(0).in_arena());
  EXPECT_EQ(f.get(), 0);
}

TEST_P(InArena, RunsNeverMoreThanTheSlotsAllow) {
  auto chosen = options(1);
  chosen.arena_threads = 4;
  scheduler sched(chosen);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 300; ++k) {
    all.push_back(sched.submit(
        [&] {
          const int now = ++inside;
          int before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          std::this_thread::yield();
          --inside;
        },
        route::any().in_arena()));
  }
  for (auto& each : all) each.get();
  EXPECT_LE(most, 2);
}

TEST_P(InArena, HasNeitherStreamNorScratch) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [](device_context& c) {
        EXPECT_THROW((void)c.stream(), invalid_option);
        EXPECT_THROW((void)c.stream(0), invalid_option);
        EXPECT_THROW((void)c.scratch<int>(1), invalid_option);
        EXPECT_THROW(c.enqueue([] {}), invalid_option);
        EXPECT_THROW(c.launch(1, [](std::int64_t) {}), invalid_option);
        EXPECT_THROW(c.sync(), invalid_option);
        EXPECT_THROW((void)c.record(), invalid_option);
        EXPECT_THROW((void)c.native_stream(), invalid_option);
      },
      route::on(0).in_arena());
  f.get();
}

TEST_P(InArena, KeepsObjectsUntilTheEnd) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) { (void)c.keep(counted()); }, route::on(0).in_arena());
  f.get();
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(InArena, CarriesExceptions) {
  scheduler sched(options(2));
  EXPECT_THROW(sched.submit([] { throw 4; }, route::any().in_arena()).get(), int);
}

TEST_P(InArena, RefusesAStream) {
  scheduler sched(options(2));
  EXPECT_THROW((void)sched.submit([] {}, route::on(0).in_arena().stream(0)), invalid_option);
}

TEST_P(InArena, RefusesToWaitForAnUnfinishedItemAndNamesThen) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto slow = sched.submit([] {}, route::on(0));
  auto f = sched.submit([&] { slow.wait(); }, route::on(1).in_arena());
  try {
    f.get();
    FAIL();
  } catch (const would_deadlock& e) {
    EXPECT_NE(std::string(e.what()).find("then"), std::string::npos);
  }
}

// The device thread, waiting in an inner loop of an item, is a thread of its arena like others.
TEST_P(InArena, NeverRunsInTheMiddleOfAnItemOfTheDeviceThread) {
  scheduler sched(options(1));
  const auto device_thread = sched.submit([] { return std::this_thread::get_id(); }).get();
  std::atomic<int> intruders{0};
  for (int round = 0; round < 200; ++round) {
    auto item = sched.submit([] {
      for (int k = 0; k < 5; ++k) {
        tbb::parallel_for(0, 64, [](int) {
          for (int spin = 0; spin < 200; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        });
      }
    });
    for (int k = 0; k < 20; ++k) {
      (void)sched.submit(
          [&] {
            if (std::this_thread::get_id() == device_thread) ++intruders;
          },
          route::on(0).in_arena());
    }
    item.get();
  }
  sched.drain();
  EXPECT_EQ(intruders, 0);
}

}  // namespace
}  // namespace heddle::test
