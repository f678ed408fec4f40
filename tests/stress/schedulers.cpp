// SPDX-License-Identifier: Apache-2.0
// Many schedulers: one after another, at the same time, and waiting for each other's items.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/seed.hpp"
#include "support/eventually.hpp"

namespace {

using namespace heddle::test;

int threads_of_this_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

TEST(Schedulers, ComeAndGoWithoutATrace) {
  int threads = 0;
  for (int round = 0; round < 200; ++round) {
    const auto mode = round % 2 == 0 ? heddle::host_mode::immediate : heddle::host_mode::deferred;
    heddle::scheduler sched(hosts(1 + round % 5, mode));
    EXPECT_EQ(sched.submit([] { return heddle::this_device::id(); }, heddle::route::on(0)).get(), 0);
    const std::vector<int> input(7, 1);
    EXPECT_EQ(sched.map([](int x) { return x; }, input).size(), 7u);
    sched.submit([] {}, heddle::route::any().in_arena()).get();
    sched.join();
    if (round == 20) threads = threads_of_this_process();
    if (round > 20) {
      // A thread that was joined may be listed for a moment longer.
      ASSERT_TRUE(eventually([&] { return threads_of_this_process() <= threads; })) << "round " << round;
    }
  }
}

TEST(Schedulers, ComeAndGoInSeveralThreadsAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        heddle::scheduler sched(hosts(1 + (t + round) % 4));
        std::vector<heddle::future<int>> all;
        for (int k = 0; k < 20; ++k) all.push_back(sched.submit([k] { return k; }));
        int sum = 0;
        for (auto& each : all) sum += each.get();
        if (sum == 190) right.fetch_add(1);
        if (round % 2 == 0) sched.join();
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(right.load(), 200);
}

// A scheduler inside an item of another one.
TEST(Schedulers, OneInsideAnItemOfAnotherWorks) {
  on_every_machine({1, 2, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler outer(options);
    auto item = outer.submit([&] {
      int sum = 0;
      {
        heddle::scheduler inner(options);
        for (int k = 0; k < 20; ++k) sum += inner.submit([k] { return k; }).get();
      }
      return sum + heddle::this_device::id() * 0;
    });
    EXPECT_EQ(item.get(), 190);
  });
}

// Items of one scheduler wait for items of the other, both ways at once. Right: all complete, or are refused
// by `would_deadlock`; none hangs.
TEST(Schedulers, WaitForEachOthersItems) {
  const auto seed = stress_seed();
  on_every_machine([&](heddle::scheduler_options options) {
    options.on_error = [](const heddle::error_event&) {};
    heddle::scheduler a(options);
    heddle::scheduler b(options);
    dice choose(seed, options.host.devices);
    std::vector<heddle::future<int>> all;
    for (int k = 0; k < 100; ++k) {
      const int from = choose.below(options.host.devices);
      const int to = choose.below(options.host.devices);
      heddle::scheduler& mine = k % 2 == 0 ? a : b;
      heddle::scheduler& other = k % 2 == 0 ? b : a;
      all.push_back(mine.submit(
          [&mine, &other, from, to] {
            auto there = other.submit(
                [&mine, from] { return 1 + mine.submit([] { return 1; }, heddle::route::on(from)).get(); },
                heddle::route::on(to));
            return 1 + there.get();
          },
          heddle::route::on(from)));
    }
    int done = 0;
    int refused = 0;
    for (auto& each : all) {
      try {
        EXPECT_EQ(each.get(), 3);
        ++done;
      } catch (const heddle::would_deadlock&) {
        ++refused;
      }
    }
    EXPECT_EQ(done + refused, 100);
    EXPECT_GE(done, 1);
  });
}

// A tree of items, each of which waits for children at random, some for those of others.
TEST(Schedulers, ItemsThatWaitForOneAnotherAtRandomAllEnd) {
  const auto seed = stress_seed();
  on_every_machine([&](heddle::scheduler_options options) {
    options.on_error = [](const heddle::error_event&) {};
    heddle::scheduler sched(options);
    std::atomic<int> threads{0}, begun{0}, ended{0};
    const std::function<int(int)> grow = [&](int depth) -> int {
      begun.fetch_add(1);
      if (depth == 0) {
        ended.fetch_add(1);
        return 1;
      }
      dice choose(seed, threads.fetch_add(1));
      std::vector<heddle::future<int>> children;
      for (int k = 0; k < 2; ++k) {
        const int device = choose.below(options.host.devices);
        auto to = choose.one_in(2) ? heddle::route::any() : heddle::route::on(device);
        if (choose.one_in(4)) to = heddle::route::on(device).stream(choose.below(2));
        if (choose.one_in(8)) to = heddle::route::key(static_cast<std::uint64_t>(choose.below(3)));
        children.push_back(sched.submit([&grow, depth] { return grow(depth - 1); }, to));
      }
      int sum = 1;
      try {
        for (auto& each : children) sum += each.get();
      } catch (const heddle::would_deadlock&) {  // a fixed stream below this item may refuse to be waited for
      }
      ended.fetch_add(1);
      return sum;
    };
    std::vector<heddle::future<int>> roots;
    for (int k = 0; k < 6; ++k) roots.push_back(sched.submit([&grow] { return grow(6); }));
    for (auto& each : roots) EXPECT_GE(each.get(), 1);
    sched.drain();
    EXPECT_EQ(begun.load(), 6 * 127);
    EXPECT_EQ(ended.load(), 6 * 127);
  });
}

}  // namespace
