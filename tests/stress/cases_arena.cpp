// SPDX-License-Identifier: Apache-2.0
// Threads, arenas and ids: whoever works for a device knows it, and nothing runs in the middle of an item.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/tracked.hpp"

namespace {

using namespace heddle::test;
using tbb::global_control;

// More TBB workers than cores, so that they move between the arenas of the devices.
global_control many_workers() { return {global_control::max_allowed_parallelism, 9}; }

// One item that runs a loop, and tells how many of its bodies saw another id than `expected`.
auto loop_of_bodies(std::atomic<int>& wrong, int bodies) {
  return [&wrong, bodies](heddle::device_context& context) {
    const int expected = context.id();
    if (heddle::this_device::id() != expected) wrong.fetch_add(1);
    tbb::parallel_for(0, bodies, [&](int) {
      if (heddle::this_device::try_id() != expected) wrong.fetch_add(1);
      tbb::parallel_for(0, 2, [&](int) {
        if (heddle::this_device::try_id() != expected) wrong.fetch_add(1);
      });
    });
    context.launch(bodies, [&wrong, expected](std::int64_t) {
      if (heddle::this_device::try_id() != expected) wrong.fetch_add(1);
    });
    if (heddle::this_device::id() != expected) wrong.fetch_add(1);
  };
}

// uxlfoundation/oneTBB#1012: a worker serves one arena and later another, so what it remembers of the first
// is wrong. Right: whatever arena the load is in, every body sees the id of the device that it works for.
TEST(Arena, ThreadsKeepTheirDeviceWhenLoadMovesBetweenDevices) {
  const auto workers = many_workers();
  on_every_machine({2, 4, 8}, [](heddle::scheduler_options options) {
    options.arena_threads = 4;
    for (int k = 0; k < options.host.devices; ++k) options.ids.push_back(100 + 7 * k);
    heddle::scheduler sched(options);
    std::atomic<int> wrong{0};
    const auto& ids = options.ids;
    for (int round = 0; round < 120; ++round) {
      const auto a = static_cast<std::size_t>(round) % ids.size();
      const auto b = static_cast<std::size_t>(round / 3 + 1) % ids.size();
      std::vector<heddle::future<void>> all;
      for (int k = 0; k < 5; ++k) {
        if (round % 3 != 1) all.push_back(sched.submit(loop_of_bodies(wrong, 16), heddle::route::on(ids[a])));
        if (round % 3 != 0) all.push_back(sched.submit(loop_of_bodies(wrong, 16), heddle::route::on(ids[b])));
      }
      for (auto& each : all) each.get();
    }
    EXPECT_EQ(wrong.load(), 0);
  });
}

// The same kind, with two schedulers whose ids overlap: the worker's device is of the scheduler it works for.
TEST(Arena, ThreadsKeepTheirDeviceWhenTwoSchedulersShareTheWorkers) {
  const auto workers = many_workers();
  on_every_machine({1, 2, 4}, [](heddle::scheduler_options options) {
    options.arena_threads = 4;
    heddle::scheduler one(options);
    for (int k = 0; k < options.host.devices; ++k) options.ids.push_back(1000 + k);
    heddle::scheduler two(options);
    std::atomic<int> wrong{0};
    std::vector<heddle::future<void>> all;
    for (int k = 0; k < 100; ++k) {
      all.push_back(one.submit(loop_of_bodies(wrong, 16)));
      all.push_back(two.submit(loop_of_bodies(wrong, 16)));
    }
    for (auto& each : all) each.get();
    EXPECT_EQ(wrong.load(), 0);
  });
}

// The same kind: A's arena, inside it B's, inside it A's again fires A's entry twice with no exit between.
// Right: each level sees its own device, on the way in and on the way out, when it is left by throwing too.
TEST(Arena, NestedEntriesSeeTheirOwnDeviceOnTheWayOutToo) {
  on_every_machine({2, 4, 8}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto id = [] { return heddle::this_device::try_id().value_or(-1); };
    std::vector<int> seen;
    const auto note = [&] { seen.push_back(id()); };
    note();
    heddle::as_device(sched, 0, [&] {
      note();
      heddle::as_device(sched, 1, [&] {
        note();
        heddle::as_device(sched, 0, note);
        note();
        EXPECT_THROW(heddle::as_device(sched, 0, [&] { throw std::runtime_error("inside"); }),
                     std::runtime_error);
        note();
      });
      note();
    });
    note();
    EXPECT_EQ(seen, (std::vector<int>{-1, 0, 1, 0, 1, 1, 0, -1}));
  });
}

// The same kind: an item that enters another device's arena, and comes back.
TEST(Arena, AnItemThatEntersAnotherDevicesArenaIsItselfAgainAfterwards) {
  on_every_machine({2, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    auto seen = sched.submit(
        [&] {
          std::vector<int> ids{heddle::this_device::id()};
          heddle::as_device(sched, 1, [&] {
            ids.push_back(heddle::this_device::id());
            tbb::parallel_for(0, 64, [&](int) {
              if (heddle::this_device::try_id() != 1) std::abort();
            });
          });
          ids.push_back(heddle::this_device::id());
          return ids;
        },
        heddle::route::on(0));
    EXPECT_EQ(seen.get(), (std::vector<int>{0, 1, 0}));
  });
}

// The same kind: after the scheduler has ended, TBB's workers and the caller act for no device any more.
TEST(Arena, NoThreadActsForADeviceOnceTheSchedulerHasEnded) {
  const auto workers = many_workers();
  on_every_machine([](heddle::scheduler_options options) {
    options.arena_threads = 4;
    std::atomic<int> wrong{0};
    {
      heddle::scheduler sched(options);
      std::vector<heddle::future<void>> all;
      for (int k = 0; k < 40; ++k) all.push_back(sched.submit(loop_of_bodies(wrong, 32)));
      for (auto& each : all) each.get();
    }
    tbb::parallel_for(0, 2000, [&](int) {
      if (heddle::this_device::try_id()) wrong.fetch_add(1);
    });
    EXPECT_EQ(wrong.load(), 0);
  });
}

thread_local int items_on_this_stack = 0;
thread_local int users_own = 0;

// root-project/root#3224, and the guide of oneTBB on work isolation: a thread that waits in an inner loop
// runs a foreign task, and thread-locals change underneath. Right: nothing else starts on an item's stack.
TEST(Isolation, AWaitInAnInnerLoopStartsNoOtherItemOnItsStack) {
  const auto workers = many_workers();
  on_every_machine([](heddle::scheduler_options options) {
    options.arena_threads = 6;
    heddle::scheduler sched(options);
    const int device = options.host.devices - 1;
    std::atomic<int> wrong{0};
    std::latch gate(1);
    std::vector<heddle::future<void>> all;
    const auto item = [&](heddle::device_context& context) {
      gate.wait();
      if (++items_on_this_stack != 1) wrong.fetch_add(1);
      const int mine = ++users_own;
      const int id = heddle::this_device::id();
      tbb::parallel_for(0, 64, [&](int) {
        std::atomic<int> spent{0};
        for (int k = 0; k < 500; ++k) spent.fetch_add(k);
      });
      context.sync();
      if (users_own != mine || heddle::this_device::id() != id) wrong.fetch_add(1);
      --items_on_this_stack;
    };
    for (int k = 0; k < 100; ++k) {
      all.push_back(sched.submit(item, heddle::route::on(device)));
      all.push_back(sched.submit([&, item](heddle::device_context& c) { item(c); }, heddle::route::any()));
    }
    gate.count_down();
    for (auto& each : all) each.get();
    EXPECT_EQ(wrong.load(), 0);
  });
}

// The same kind: loops that others run in the device's arena are foreign, too. The item waits for a group
// that only the arena's worker can end, and the worker is in such a loop, whose pieces lie there to be taken.
TEST(Isolation, AnItemsThreadTakesNothingFromItsArenaWhileItsLoopEnds) {
  const global_control one_worker(global_control::max_allowed_parallelism, 2);
  on_every_machine({1, 2}, [](heddle::scheduler_options options) {
    options.arena_threads = 6;
    heddle::scheduler sched(options);
    std::atomic<int> intruders{0};
    for (int round = 0; round < 5; ++round) {
      sched
          .submit(
              [&](heddle::device_context& context) {
                const auto self = std::this_thread::get_id();
                tbb::task_group group;
                auto end_of_wait = std::make_shared<tbb::task_handle>(group.defer([] {}));
                std::atomic<bool> loops{false};
                context.arena().enqueue([&, end_of_wait] {
                  loops = true;
                  tbb::parallel_for(
                      0, 2000, 1,
                      [&](int) {
                        if (std::this_thread::get_id() == self) intruders.fetch_add(1);
                        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
                        while (std::chrono::steady_clock::now() < until) {
                        }
                      },
                      tbb::simple_partitioner());
                  *end_of_wait = tbb::task_handle();
                });
                while (!loops) std::this_thread::yield();
                group.wait();
              },
              heddle::route::on(0))
          .get();
    }
    EXPECT_EQ(intruders.load(), 0);
  });
}

// GafferHQ/gaffer#5403: a closure given to a full arena runs on a thread other than the caller. Right: it
// sees the device wherever it runs, and the caller is afterwards what it was.
TEST(AsDevice, EveryCallerIsTheDeviceWhenTheArenaIsFullAndItselfAfterwards) {
  on_every_machine({1, 2, 8}, [](heddle::scheduler_options options) {
    options.arena_threads = 3;
    heddle::scheduler sched(options);
    const int devices = options.host.devices;
    std::atomic<int> wrong{0};
    std::latch together(64);
    std::vector<std::thread> callers;
    for (int k = 0; k < 64; ++k) {
      callers.emplace_back([&, k] {
        const int id = k % devices;
        const int other = (k + 1) % devices;
        const auto call = [&] {
          for (int round = 0; round < 20; ++round) {
            const int seen = heddle::as_device(sched, id, [&] {
              int worst = heddle::this_device::try_id().value_or(-1);
              tbb::parallel_for(0, 4, [&](int) {
                if (heddle::this_device::try_id() != id) wrong.fetch_add(1);
              });
              return worst;
            });
            if (seen != id) wrong.fetch_add(1);
          }
        };
        together.arrive_and_wait();
        if (k % 2 == 0) {
          call();
          if (heddle::this_device::try_id()) wrong.fetch_add(1);
        } else {
          const heddle::device_guard guard(sched, other);
          call();
          if (heddle::this_device::try_id() != other) wrong.fetch_add(1);
        }
      });
    }
    for (auto& each : callers) each.join();
    EXPECT_EQ(wrong.load(), 0);
  });
}

// The same kind: what the closure throws in a full arena reaches the caller, on the caller's thread.
TEST(AsDevice, ThrowsOnTheCallersThreadWhenTheArenaIsFull) {
  auto options = hosts(2);
  options.arena_threads = 3;
  heddle::scheduler sched(options);
  std::atomic<int> caught{0};
  std::vector<std::thread> callers;
  for (int k = 0; k < 32; ++k) {
    callers.emplace_back([&, k] {
      try {
        heddle::as_device(sched, k % 2, [&] { throw k; });
      } catch (int mine) {
        if (mine == k && !heddle::this_device::try_id()) caught.fetch_add(1);
      }
    });
  }
  for (auto& each : callers) each.join();
  EXPECT_EQ(caught.load(), 32);
}

// uxlfoundation/oneTBB#1313: an arena of one runs two bodies at once, and what is enqueued is not first in,
// first out. Right: items of one device start strictly in order, and one runs at a time.
TEST(Order, ItemsOfOneDeviceRunInOrderOneAtATime) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto lanes = static_cast<std::size_t>(options.host.devices);
    struct lane {
      std::vector<int> order;  // by the device thread only
      std::atomic<int> now{0}, most{0};
    };
    std::vector<lane> all(lanes);
    for (int k = 0; k < 1000; ++k) {
      for (std::size_t d = 0; d < lanes; ++d) {
        auto dropped = sched.submit(
            [&mine = all[d], k] {
              const inside counted(mine.now, mine.most);
              mine.order.push_back(k);
            },
            heddle::route::on(static_cast<int>(d)));
      }
    }
    sched.drain();
    std::vector<int> expected(1000);
    for (int k = 0; k < 1000; ++k) expected[static_cast<std::size_t>(k)] = k;
    for (const auto& each : all) {
      EXPECT_EQ(each.order, expected);
      EXPECT_EQ(each.most.load(), 1);
    }
  });
}

// The same kind: a key promises order, wherever it lives, for what is put on the stream too, from several
// submitters each of which sees its own order.
TEST(Order, ItemsOfAKeyRunAndCompleteInTheOrderOfTheirSubmitter) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    constexpr int submitters = 4;
    struct trail {
      std::vector<int> ran, completed;
    };
    std::vector<trail> keys(submitters);
    std::vector<std::thread> threads;
    for (int s = 0; s < submitters; ++s) {
      threads.emplace_back([&, s] {
        auto& mine = keys[static_cast<std::size_t>(s)];
        for (int k = 0; k < 500; ++k) {
          auto dropped = sched.submit(
              [&mine, k](heddle::device_context& context) {
                mine.ran.push_back(k);
                context.enqueue([&mine, k] { mine.completed.push_back(k); });
              },
              heddle::route::key(static_cast<std::uint64_t>(s)));
        }
      });
    }
    for (auto& each : threads) each.join();
    sched.drain();
    for (const auto& each : keys) {
      ASSERT_EQ(each.ran.size(), 500u);
      EXPECT_TRUE(std::is_sorted(each.ran.begin(), each.ran.end()));
      EXPECT_EQ(each.ran, each.completed);
    }
  });
}

// The same kind: tickets order the shared queue and the inbox of a device against each other.
TEST(Order, OneDeviceTakesPinnedAndAnyItemsByAge) {
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    heddle::scheduler sched(hosts(1, mode));
    std::latch gate(1);
    auto first = sched.submit([&] { gate.wait(); });
    std::vector<int> order;
    for (int k = 0; k < 300; ++k) {
      const auto to = k % 3 == 0 ? heddle::route::any() : heddle::route::on(0);
      auto dropped = sched.submit([&order, k] { order.push_back(k); }, to);
    }
    gate.count_down();
    sched.drain();
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 300u);
  }
}

}  // namespace
