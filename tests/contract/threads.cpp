// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <string>

#include "heddle/heddle.hpp"
#include "support/contract.hpp"
#include "support/eventually.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ThreadNames);

int named(const std::string& name) {
  const auto names = thread_names();
  return static_cast<int>(std::count(names.begin(), names.end(), name));
}

TEST_P(ThreadNames, AreTheIdsOfTheDevices) {
  auto chosen = options(3);
  chosen.ids = {7, 0, 12};
  const scheduler sched(chosen);
  EXPECT_EQ(named("heddle/7"), 1);
  EXPECT_EQ(named("heddle/0"), 1);
  EXPECT_EQ(named("heddle/12"), 1);
  EXPECT_EQ(device_threads(), 3);
}

TEST_P(ThreadNames, ExistForTheLargestIdsToo) {
  auto chosen = options(1);
  chosen.ids = {2147483647};
  const scheduler sched(chosen);
  EXPECT_EQ(device_threads(), 1);
}

TEST_P(ThreadNames, AreOneThreadADevice) {
  for (const int devices : {1, 2, 8}) {
    const auto before = thread_names().size();
    scheduler sched(options(devices));
    sched.drain();
    EXPECT_EQ(thread_names().size(), before + static_cast<std::size_t>(devices));
  }
}

// Without the fixture, which has TBB make its workers beforehand. A worker is made with the name of the
// thread that asked for it, and loses it when it first enters the arena of a device, which it does when it
// finds work there.
TEST(ThreadNamesOfTbb, AreNotThoseOfDevicesOnceTheyHaveWorkedForOne) {
  scheduler_options two;
  two.use = backend::host;
  two.host.devices = 2;
  {
    scheduler sched(two);
    EXPECT_TRUE(eventually([&] {
      for (auto& each : sched.broadcast([] { tbb::parallel_for(0, 1000, [](int) {}); })) each.get();
      return named("heddle/0") == 1 && named("heddle/1") == 1;
    }));
  }
  EXPECT_TRUE(eventually([] { return device_threads() == 0; }));
}

// Source: taskflow#255: an idle executor burns a core.
TEST_P(ThreadNames, OfAnIdleSchedulerSleep) {
  const scheduler sched(options(4));
  EXPECT_TRUE(eventually([] { return sleeping_device_threads() == 4; }));
}

}  // namespace
}  // namespace heddle::test
