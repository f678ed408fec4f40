// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Identity);

std::vector<int> ids_of(const scheduler& s) {
  std::vector<int> ids;
  for (const auto& each : s.devices()) ids.push_back(each.id);
  return ids;
}

TEST_P(Identity, IsUniqueInTheScheduler) {
  scheduler sched(options(8));
  const auto ids = ids_of(sched);
  EXPECT_EQ(std::set<int>(ids.begin(), ids.end()).size(), 8u);
}

TEST_P(Identity, StaysTheSameForTheSchedulersLife) {
  scheduler sched(options(3));
  for (int round = 0; round < 50; ++round) {
    for (const int id : ids_of(sched)) {
      EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(id)).get(), id);
    }
  }
}

TEST_P(Identity, BelongsToOneThreadForTheSchedulersLife) {
  scheduler sched(options(3));
  const auto threads = [&] {
    std::vector<std::thread::id> all;
    for (auto& each : sched.broadcast([] { return std::this_thread::get_id(); })) all.push_back(each.get());
    return all;
  };
  const auto first = threads();
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), 3u);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(threads(), first);
}

TEST_P(Identity, IsEqualByContextByThreadAndByInfo) {
  scheduler sched(options(4));
  for (const auto& device : sched.devices()) {
    sched
        .submit(
            [&](device_context& context) {
              EXPECT_EQ(context.id(), device.id);
              EXPECT_EQ(this_device::id(), device.id);
              EXPECT_EQ(this_device::try_id(), device.id);
              EXPECT_EQ(this_device::info(), device);
              EXPECT_EQ(context.info(), device);
            },
            route::on(device.id))
        .get();
  }
}

// Source: oneTBB#1012: a worker serves one arena, later another.
TEST_P(Identity, IsEqualInEveryTbbTaskOfAnItemWhileDevicesAlternate) {
  scheduler sched(options(4));
  std::atomic<int> wrong{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 400; ++k) {
    const int id = k % 4;
    all.push_back(sched.submit(
        [&wrong, id] {
          tbb::parallel_for(0, 64, [&](int) {
            if (this_device::try_id() != id) ++wrong;
          });
        },
        route::on(id)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Identity, IsEqualInTasksBelowTasks) {
  scheduler sched(options(2));
  std::atomic<int> wrong{0};
  for (auto& each : sched.broadcast([&wrong](device_context& context) {
         const int id = context.id();
         tbb::task_group group;
         for (int k = 0; k < 8; ++k) {
           group.run([&] {
             tbb::parallel_for(0, 32, [&](int) {
               if (this_device::id() != id) ++wrong;
             });
           });
         }
         group.wait();
       })) {
    each.get();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Identity, IsEqualInArenaItems) {
  scheduler sched(options(2));
  for (int k = 0; k < 40; ++k) {
    const int id = k % 2;
    EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(id).in_arena()).get(), id);
  }
}

TEST_P(Identity, IsEqualInContinuations) {
  scheduler sched(options(3));
  for (const int id : ids_of(sched)) {
    auto f = sched.submit([] { return this_device::id(); }, route::on(id)).then([](int before) {
      return std::pair{before, this_device::id()};
    });
    EXPECT_EQ(f.get(), (std::pair{id, id}));
  }
}

TEST_P(Identity, IsFreeToBeChosen) {
  auto chosen = options(3);
  chosen.ids = {42, 7, 1000};
  scheduler sched(chosen);
  EXPECT_EQ(ids_of(sched), chosen.ids);
  for (const int id : chosen.ids) {
    auto f = sched.submit([] { return this_device::id(); }, route::on(id));
    f.wait();
    EXPECT_EQ(f.ran_on(), id);
    EXPECT_EQ(f.get(), id);
  }
}

TEST_P(Identity, IsRefusedWhenGivenTwice) {
  auto chosen = options(3);
  chosen.ids = {5, 6, 5};
  EXPECT_THROW(scheduler{chosen}, invalid_option);
}

TEST_P(Identity, IsRefusedWhenNotOnePerDevice) {
  auto chosen = options(3);
  chosen.ids = {5, 6};
  EXPECT_THROW(scheduler{chosen}, invalid_option);
  chosen.ids = {5, 6, 7, 8};
  EXPECT_THROW(scheduler{chosen}, invalid_option);
}

TEST_P(Identity, IsRefusedWhenNegative) {
  auto chosen = options(2);
  chosen.ids = {-1, 0};
  EXPECT_THROW(scheduler{chosen}, invalid_option);
}

TEST_P(Identity, IsGivenBackToASecondScheduler) {
  std::vector<int> first;
  {
    scheduler sched(options(3));
    first = ids_of(sched);
  }
  for (int round = 0; round < 10; ++round) {
    scheduler sched(options(3));
    ASSERT_EQ(ids_of(sched), first);
    for (const int id : first)
      EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(id)).get(), id);
  }
}

TEST_P(Identity, IsKeptApartWhenTwoSchedulersLive) {
  auto chosen = options(2);
  scheduler low(chosen);
  chosen.ids = {10, 11};
  scheduler high(chosen);
  std::atomic<int> wrong{0};
  std::vector<future<void>> all;
  const auto check = [&wrong](int id) {
    return [&wrong, id] {
      tbb::parallel_for(0, 32, [&](int) {
        if (this_device::try_id() != id) ++wrong;
      });
    };
  };
  for (int k = 0; k < 200; ++k) {
    all.push_back(low.submit(check(k % 2), route::on(k % 2)));
    all.push_back(high.submit(check(10 + k % 2), route::on(10 + k % 2)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Identity, IsTheSameInTwoSchedulersThatLive) {
  scheduler one(options(2));
  scheduler two(options(2));
  EXPECT_EQ(ids_of(one), ids_of(two));
  EXPECT_EQ(one.submit([] { return this_device::id(); }, route::on(1)).get(), 1);
  EXPECT_EQ(two.submit([] { return this_device::id(); }, route::on(1)).get(), 1);
}

TEST_P(Identity, IsUnknownOnAForeignThread) {
  scheduler sched(options(2));
  EXPECT_THROW(this_device::id(), not_on_a_device);
  EXPECT_THROW(this_device::info(), not_on_a_device);
  EXPECT_EQ(this_device::try_id(), std::nullopt);
}

TEST_P(Identity, IsGoneFromTbbsThreadsAfterwards) {
  std::atomic<int> wrong{0};
  for (int round = 0; round < 20; ++round) {
    {
      scheduler sched(options(2));
      for (auto& each : sched.broadcast([] { tbb::parallel_for(0, 256, [](int) {}); })) each.get();
    }
    tbb::parallel_for(0, 256, [&](int) {
      if (this_device::try_id()) ++wrong;
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Identity, IsNotSeenByTbbTasksOfAnotherArenaMeanwhile) {
  scheduler sched(options(2));
  std::vector<future<void>> all;
  for (int k = 0; k < 50; ++k) {
    for (auto& each : sched.broadcast([] { tbb::parallel_for(0, 64, [](int) {}); })) {
      all.push_back(std::move(each));
    }
  }
  std::atomic<int> wrong{0};
  for (int round = 0; round < 50; ++round) {
    tbb::parallel_for(0, 64, [&](int) {
      if (this_device::try_id()) ++wrong;
    });
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(wrong, 0);
}

// Source: root-project/root#3224: a waiting thread runs a foreign task, thread-locals change underneath.
TEST_P(Identity, IsNotMixedByAnotherItemInTheMiddleOfOne) {
  scheduler sched(options(2));
  static thread_local int mine = 0;
  std::atomic<int> wrong{0};
  std::vector<future<void>> all;
  for (int k = 1; k <= 100; ++k) {
    all.push_back(sched.submit(
        [&wrong, k] {
          mine = k;
          tbb::parallel_for(0, 256, [](int) {});
          if (mine != k) ++wrong;
        },
        route::on(1)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Identity, IsTheListedOneWithDefaultOptions) {
  HEDDLE_ON_HOST_DEVICES_ONLY("it would use all GPUs of the machine");
  scheduler_options chosen;
  chosen.use = backend::host;
  scheduler sched{chosen};
  const auto listed = list_devices(backend::host);
  EXPECT_TRUE(std::equal(listed.begin(), listed.end(), sched.devices().begin(), sched.devices().end()));
}

}  // namespace
}  // namespace heddle::test
