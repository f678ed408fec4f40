// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Cancel);

TEST_P(Cancel, EndsWhatHasNotStartedAndAsksTheRestToStop) {
  scheduler sched(options(1));
  gate running;
  auto f = sched.submit([&](device_context& c) {
    running.open();
    while (!c.stop_token().stop_requested()) std::this_thread::yield();
    return 1;
  });
  running.wait();
  std::vector<future<void>> rest;
  for (int k = 0; k < 100; ++k) {
    rest.push_back(sched.submit([alive = counted()] { ADD_FAILURE(); }, k % 2 ? route::any() : route::on(0)));
  }
  auto in_arena = sched.submit([] {}, route::any().in_arena());
  sched.cancel();
  EXPECT_EQ(f.get(), 1);
  for (auto& each : rest) EXPECT_THROW(each.get(), cancelled);
  try {
    in_arena.get();  // may have run before
  } catch (const cancelled&) {
  }
  EXPECT_EQ(sched.submit([] { return 2; }).get(), 2) << "the scheduler stays open";
  EXPECT_FALSE(sched.submit([](device_context& c) { return c.stop_token().stop_requested(); }).get());
  sched.drain();
}

TEST_P(Cancel, EndsAtOnceThoughTheDeviceIsBusy) {
  scheduler sched(options(1));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] {});
  sched.cancel();
  EXPECT_TRUE(f.ready());
  EXPECT_THROW(f.get(), cancelled);
}

TEST_P(Cancel, InsideAnItemWorks) {
  scheduler sched(options(1));
  auto f = sched.submit([&] {
    auto other = sched.submit([] {});
    sched.cancel();
    return other.ready();
  });
  EXPECT_TRUE(f.get());
}

TEST_P(Cancel, AgainstSubmittersLosesNothing) {
  scheduler sched(options(2));
  std::atomic<int> ended{0};
  std::atomic<bool> over{false};
  std::thread canceller([&] {
    while (!over) sched.cancel();
  });
  for (int k = 0; k < 3000; ++k) {
    auto f = sched.submit([alive = counted()] {}).then([alive = counted()] {});
    try {
      f.get();
    } catch (const cancelled&) {
    }
    ++ended;
  }
  over = true;
  canceller.join();
  sched.drain();
  EXPECT_EQ(sched.stats().pending, 0u);
  EXPECT_EQ(sched.stats().queued, 0u);
}

}  // namespace
}  // namespace heddle::test
