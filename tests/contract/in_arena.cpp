// SPDX-License-Identifier: Apache-2.0
#include <tbb/info.h>

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

}  // namespace
}  // namespace heddle::test
