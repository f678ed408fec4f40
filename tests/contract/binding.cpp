// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(AsDevice);
HEDDLE_CONTRACT_SUITE(DeviceGuard);

TEST_P(AsDevice, BindsTheCallAndTheTasksThatItStarts) {
  scheduler sched(options(2));
  std::atomic<int> wrong{0};
  as_device(sched, 1, [&] {
    EXPECT_EQ(this_device::id(), 1);
    tbb::parallel_for(0, 256, [&](int) {
      if (this_device::try_id() != 1) ++wrong;
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(AsDevice, GivesWhatTheCallReturns) {
  scheduler sched(options(2));
  EXPECT_EQ(*as_device(sched, 0, [] { return std::make_unique<int>(5); }), 5);
}

TEST_P(AsDevice, LetsAnExceptionOutAndTheThreadUnbound) {
  scheduler sched(options(2));
  EXPECT_THROW(as_device(sched, 0, [] { throw std::out_of_range("mine"); }), std::out_of_range);
  EXPECT_THROW(as_device(sched, 0, []() -> int { throw 5; }), int);
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(AsDevice, RefusesAnUnknownDevice) {
  scheduler sched(options(2));
  EXPECT_THROW(as_device(sched, 2, [] {}), invalid_option);
  EXPECT_THROW(as_device(sched, -1, [] {}), invalid_option);
}

// Source: GafferHQ/gaffer#5403: a closure given to a full arena runs on a thread other than the caller.
TEST_P(AsDevice, IsTheDeviceForMoreThreadsThanTheArenaHasPlaces) {
  auto chosen = options(2);
  chosen.arena_threads = 3;
  scheduler sched(chosen);
  std::atomic<int> wrong{0};
  std::vector<std::thread> outside;
  for (int k = 0; k < 64; ++k) {
    outside.emplace_back([&, id = k % 2] {
      for (int round = 0; round < 20; ++round) {
        as_device(sched, id, [&] {
          if (this_device::try_id() != id) ++wrong;
        });
        if (this_device::try_id()) ++wrong;
      }
    });
  }
  for (auto& each : outside) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(AsDevice, LetsAnExceptionOutOfAFullArenaToo) {
  auto chosen = options(2);
  chosen.arena_threads = 3;
  scheduler sched(chosen);
  std::atomic<int> caught{0};
  std::vector<std::thread> outside;
  for (int k = 0; k < 32; ++k) {
    outside.emplace_back([&, k] {
      try {
        as_device(sched, 0, [k] { throw k; });
      } catch (int value) {
        if (value == k) ++caught;
      }
    });
  }
  for (auto& each : outside) each.join();
  EXPECT_EQ(caught, 32);
}

TEST_P(AsDevice, WorksWhileTheDeviceThreadIsBusy) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  EXPECT_EQ(as_device(sched, 0, [] { return this_device::id(); }), 0);
}

TEST_P(AsDevice, RestoresEachDeviceOfANest) {
  scheduler sched(options(2));
  as_device(sched, 0, [&] {
    as_device(sched, 1, [&] {
      as_device(sched, 0, [&] { EXPECT_EQ(this_device::id(), 0); });
      EXPECT_EQ(this_device::id(), 1);
    });
    EXPECT_EQ(this_device::id(), 0);
    as_device(sched, 0, [&] { EXPECT_EQ(this_device::id(), 0); });
    EXPECT_EQ(this_device::id(), 0);
  });
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(AsDevice, RestoresTheDeviceOfAnItemWhenItThrows) {
  scheduler sched(options(2));
  const auto seen = sched.submit(
      [&sched] {
        try {
          as_device(sched, 1, [&sched] { as_device(sched, 0, [] { throw 1; }); });
        } catch (int) {
        }
        return this_device::id();
      },
      route::on(0));
  auto& f = const_cast<future<int>&>(seen);
  EXPECT_EQ(f.get(), 0);
}

TEST_P(AsDevice, CrossesSchedulers) {
  auto chosen = options(2);
  scheduler one(chosen);
  chosen.ids = {20, 21};
  scheduler two(chosen);
  auto f = one.submit(
      [&two] {
        const int inner = as_device(two, 21, [] { return this_device::id(); });
        return std::pair{inner, this_device::id()};
      },
      route::on(1));
  EXPECT_EQ(f.get(), (std::pair{21, 1}));
}

TEST_P(AsDevice, RefusesToWaitForAnUnfinishedItemAndNamesThen) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] {}, route::on(0));
  try {
    as_device(sched, 1, [&] { f.wait(); });
    FAIL() << "it waited";
  } catch (const would_deadlock& e) {
    EXPECT_NE(std::string(e.what()).find("then"), std::string::npos) << e.what();
  }
}

TEST_P(AsDevice, IsRefusedOnceTheSchedulerHasJoined) {
  scheduler sched(options(2));
  sched.join();
  EXPECT_THROW(as_device(sched, 0, [] { return this_device::try_id().value_or(-1); }), scheduler_stopped);
}

TEST_P(AsDevice, CountsAsRunningWorkAndMaySubmitAfterClose) {
  scheduler sched(options(2));
  auto made = as_device(sched, 0, [&] {
    sched.close();
    return sched.submit([] { return 3; });
  });
  EXPECT_EQ(made.get(), 3);
  EXPECT_THROW(as_device(sched, 0, [] {}), scheduler_stopped);
}

TEST_P(AsDevice, IsWaitedForByJoin) {
  scheduler sched(options(2));
  gate inside;
  gate leave;
  std::thread outside([&] {
    as_device(sched, 1, [&] {
      inside.open();
      leave.wait();
      EXPECT_EQ(this_device::id(), 1);
    });
  });
  inside.wait();
  std::thread joiner([&] { sched.join(); });
  leave.open();
  joiner.join();
  outside.join();
}

TEST_P(DeviceGuard, BindsThisThreadForAScope) {
  scheduler sched(options(2));
  {
    const device_guard guard(sched, 1);
    EXPECT_EQ(this_device::id(), 1);
    EXPECT_EQ(this_device::info(), sched.devices()[1]);
    std::thread([] { EXPECT_FALSE(this_device::try_id()); }).join();
  }
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(DeviceGuard, Nests) {
  scheduler sched(options(3));
  const auto id = [] { return this_device::id(); };
  {
    const device_guard a(sched, 0);
    {
      const device_guard b(sched, 1);
      {
        const device_guard c(sched, 0);
        EXPECT_EQ(id(), 0);
      }
      EXPECT_EQ(id(), 1);
      EXPECT_EQ(as_device(sched, 2, id), 2);
      EXPECT_EQ(id(), 1);
    }
    EXPECT_EQ(id(), 0);
  }
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(DeviceGuard, EndsWhenAnExceptionLeaves) {
  scheduler sched(options(2));
  try {
    const device_guard guard(sched, 0);
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(DeviceGuard, RefusesAnUnknownDeviceAndLeavesTheThreadAsItWas) {
  scheduler sched(options(2));
  EXPECT_THROW(device_guard(sched, 2), invalid_option);
  EXPECT_FALSE(this_device::try_id());
}

TEST_P(DeviceGuard, InAnItemGivesTheItemsDeviceBack) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&sched] {
        int inner = 0;
        {
          const device_guard guard(sched, 1);
          inner = this_device::id();
        }
        return std::pair{inner, this_device::id()};
      },
      route::on(0));
  EXPECT_EQ(f.get(), (std::pair{1, 0}));
}

TEST_P(DeviceGuard, InAnItemDoesNotStopItsWaitFromBeingServed) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&sched] {
        const device_guard guard(sched, 1);
        return sched.submit([] { return 3; }, route::on(0)).get();
      },
      route::on(0));
  EXPECT_EQ(f.get(), 3);
}

TEST_P(DeviceGuard, OnAnArenaThreadDoesNotAllowToWait) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] {}, route::on(0));
  as_device(sched, 1, [&] {
    const device_guard guard(sched, 0);
    EXPECT_THROW(f.wait(), would_deadlock);
  });
}

TEST_P(DeviceGuard, OnAUsersThreadAllowsToWait) {
  scheduler sched(options(2));
  const device_guard guard(sched, 0);
  EXPECT_EQ(sched.submit([] { return 4; }, route::on(0)).get(), 4);
}

}  // namespace
}  // namespace heddle::test
