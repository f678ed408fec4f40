// SPDX-License-Identifier: Apache-2.0
// Waiting and submitting inside items: it completes, or is refused by a typed error. Never a hang.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"

namespace {

using namespace heddle::test;
using tbb::global_control;

// uxlfoundation/oneTBB#2156: a task enqueued during a nested wait is never taken in an arena of one slot.
// Right: an item that submits to its own device and waits gets the result.
TEST(NestedWait, AnItemGetsTheResultOfAnItemThatItSubmittedToItsOwnDevice) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<heddle::future<int>> all;
    for (int k = 0; k < 50; ++k) {
      const int device = k % options.host.devices;
      all.push_back(sched.submit(
          [&sched, k, device](heddle::device_context& context) {
            auto child = sched.submit([k] { return k * 2; }, heddle::route::on(device));
            int looped = 0;
            context.launch(1, [&](std::int64_t) { ++looped; });
            context.sync();
            return child.get() + looped;
          },
          heddle::route::on(device)));
    }
    for (int k = 0; k < 50; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), 2 * k + 1);
  });
}

// The same, where TBB has no worker at all and the child needs the arena.
TEST(NestedWait, AnItemGetsTheResultOfAnArenaItemWhereTbbHasNoWorkers) {
  const global_control alone(global_control::max_allowed_parallelism, 1);
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<heddle::future<int>> all;
    for (int device = 0; device < options.host.devices; ++device) {
      all.push_back(sched.submit(
          [&sched, device] {
            return sched
                .submit([] { return heddle::this_device::id(); }, heddle::route::on(device).in_arena())
                .get();
          },
          heddle::route::on(device)));
    }
    for (int device = 0; device < options.host.devices; ++device)
      EXPECT_EQ(all[static_cast<std::size_t>(device)].get(), device);
  });
}

// The same kind: a nested wait runs what it waits for, and nothing that happens to be queued in front of it.
TEST(NestedWait, RunsOnlyWhatItWaitsFor) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::atomic<int> strangers{0};
    auto item = sched.submit(
        [&] {
          std::vector<heddle::future<void>> others;
          for (int k = 0; k < 20; ++k)
            others.push_back(sched.submit([&] { strangers.fetch_add(1); }, heddle::route::on(0)));
          sched.submit([] {}, heddle::route::on(0)).get();
          return strangers.load();
        },
        heddle::route::on(0));
    EXPECT_EQ(item.get(), 0);
    sched.drain();
    EXPECT_EQ(strangers.load(), 20);
  });
}

int nest(heddle::scheduler& sched, int device, int devices, int depth) {
  if (depth == 0) return 0;
  const int next = (device + 1) % devices;
  return 1 + sched
                 .submit([&sched, next, devices, depth] { return nest(sched, next, devices, depth - 1); },
                         heddle::route::on(next))
                 .get();
}

// taskflow/taskflow#575: recursive async with a wait hangs, since the wait holds the only worker. Right:
// done.
TEST(NestedWait, FiftyDeepOnOneDeviceCompletes) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const std::function<int(int)> down = [&](int depth) -> int {
      return depth == 0 ? 0
                        : 1 + sched
                                  .submit([&, depth] { return down(depth - 1); },
                                          heddle::route::on(options.host.devices - 1))
                                  .get();
    };
    EXPECT_EQ(sched.submit([&] { return down(50); }, heddle::route::on(0)).get(), 50);
  });
}

// The same, round a ring of devices (A waits for B, B for C, C for A again), from all of them at once.
TEST(NestedWait, RoundARingOfDevicesCompletes) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const int devices = options.host.devices;
    std::vector<heddle::future<int>> all;
    for (int from = 0; from < devices; ++from) {
      all.push_back(sched.submit([&sched, from, devices] { return nest(sched, from, devices, 50); },
                                 heddle::route::on(from)));
    }
    int depths = 0;
    int refused = 0;
    for (auto& each : all) {
      try {
        depths += each.get() == 50;
      } catch (const heddle::would_deadlock&) {
        ++refused;
      }
    }
    EXPECT_EQ(depths + refused, devices);
    EXPECT_GE(depths, 1);
  });
}

// The same, deeper than any stack should be asked to go. Right: the typed error, and everything ends.
TEST(NestedWait, TooDeepIsRefusedWithATypedError) {
  on_every_machine([](heddle::scheduler_options options) {
    options.on_error = [](const heddle::error_event&) {};  // of items whose waiter was refused
    heddle::scheduler sched(options);
    EXPECT_THROW(nest(sched, 0, options.host.devices, 2000), heddle::would_deadlock);
    sched.drain();
    EXPECT_EQ(sched.submit([] { return 5; }).get(), 5);
  });
}

// The same, where any device may take the child.
TEST(NestedWait, ATreeOfWaitingItemsForAnyDeviceCompletes) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const std::function<int(int)> leaves = [&](int depth) -> int {
      if (depth == 0) return 1;
      auto left = sched.submit([&, depth] { return leaves(depth - 1); });
      auto right = sched.submit([&, depth] { return leaves(depth - 1); });
      return left.get() + right.get();
    };
    EXPECT_EQ(leaves(8), 256);
  });
}

// The same kind: an item that waits for itself.
TEST(NestedWait, AnItemThatWaitsForItselfIsRefused) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    auto own = std::make_shared<heddle::future<void>>();
    std::latch gate(1);
    std::atomic<bool> refused{false};
    *own = sched.submit([&, own] {
      gate.wait();
      try {
        own->wait();
      } catch (const heddle::would_deadlock&) {
        refused = true;
      }
    });
    gate.count_down();
    sched.drain();
    EXPECT_TRUE(refused.load());
    *own = {};
  });
}

// The same kind: a circle of running items, each of which waits for the next one.
TEST(NestedWait, ACircleOfRunningItemsIsRefused) {
  on_every_machine({2, 4, 8}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto devices = static_cast<std::size_t>(options.host.devices);
    std::vector<heddle::future<void>> items(devices);
    std::latch gate(1);
    std::atomic<int> refused{0};
    for (std::size_t k = 0; k < devices; ++k) {
      items[k] = sched.submit(
          [&, k] {
            gate.wait();
            try {
              items[(k + 1) % devices].wait();
            } catch (const heddle::would_deadlock&) {
              refused.fetch_add(1);
            }
          },
          heddle::route::on(static_cast<int>(k)));
    }
    gate.count_down();
    sched.drain();
    EXPECT_GE(refused.load(), 1);
  });
}

// The same kind: a wait on a thread of the arena could need that thread. Right: refused, not hung; and the
// device thread's own share of the loop may wait.
TEST(NestedWait, AWaitOnAnArenaThreadIsRefusedOrServed) {
  const global_control workers(global_control::max_allowed_parallelism, 5);
  on_every_machine([](heddle::scheduler_options options) {
    options.arena_threads = 5;
    heddle::scheduler sched(options);
    std::atomic<int> served{0}, refused{0};
    auto item = sched.submit(
        [&] {
          tbb::parallel_for(0, 64, [&](int k) {
            auto child = sched.submit([k] { return k; }, heddle::route::on(0));
            try {
              served.fetch_add(child.get() == k);
            } catch (const heddle::would_deadlock&) {
              refused.fetch_add(1);
            }
          });
        },
        heddle::route::on(0));
    item.get();
    EXPECT_EQ(served.load() + refused.load(), 64);
  });
}

// OSGeo/gdal#6389: a job that submits a job blocks when the pool is full. Right: the submission runs or is
// refused by `queue_full`; the submitters outside, who may wait, get everything in.
TEST(FullQueue, ItemsThatSubmitMoreNeitherHangNorLoseAnything) {
  for (const auto full : {heddle::when_full::wait, heddle::when_full::reject}) {
    on_every_machine([full](heddle::scheduler_options options) {
      options.queue_capacity = 8;
      options.full = full;
      heddle::scheduler sched(options);
      std::atomic<int> ran{0}, accepted{0}, refused{0};
      const auto child = [&] { ran.fetch_add(1); };
      std::vector<std::thread> producers;
      for (int p = 0; p < 4; ++p) {
        producers.emplace_back([&, p] {
          for (int k = 0; k < 200; ++k) {
            const int device = (k + p) % options.host.devices;
            const auto parent = [&, k, device] {
              ran.fetch_add(1);
              try {
                if (k % 3 == 0) {
                  auto one = sched.submit(child, heddle::route::on(device));
                } else if (k % 3 == 1) {
                  auto one = sched.submit(child, heddle::route::any().in_arena());
                } else {
                  sched.submit(child).get();
                }
                accepted.fetch_add(1);
              } catch (const heddle::queue_full&) {
                refused.fetch_add(1);
              }
            };
            auto to = k % 2 == 0 ? heddle::route::on(device) : heddle::route::any();
            if (k % 5 == 0) to = heddle::route::on(device).in_arena();
            try {
              auto dropped = sched.submit(
                  [parent] {
                    try {
                      parent();
                    } catch (const heddle::would_deadlock&) {  // of get() on an arena thread
                    }
                  },
                  to);
              accepted.fetch_add(1);
            } catch (const heddle::queue_full&) {
              refused.fetch_add(1);
            }
          }
        });
      }
      for (auto& each : producers) each.join();
      sched.drain();
      if (full == heddle::when_full::wait) {
        EXPECT_GE(ran.load(), 800);
      }
      EXPECT_EQ(sched.stats().refused, static_cast<std::uint64_t>(refused.load()));
      EXPECT_EQ(sched.stats().queued, 0u);
      EXPECT_EQ(sched.stats().pending, 0u);
    });
  }
}

// The same kind: whole batches and maps inside items, while the queue is full.
TEST(FullQueue, AMapInsideAnItemCompletesOrIsRefused) {
  on_every_machine([](heddle::scheduler_options options) {
    options.queue_capacity = 4;
    heddle::scheduler sched(options);
    std::atomic<int> done{0}, refused{0};
    std::vector<heddle::future<void>> all;
    for (int k = 0; k < 40; ++k) {
      all.push_back(sched.submit([&] {
        try {
          const std::vector<int> input(20, 1);
          for (const int one : sched.map([](int x) { return x; }, input, {.chunk = 1})) done.fetch_add(one);
        } catch (const heddle::queue_full&) {
          refused.fetch_add(1);
        }
      }));
    }
    for (auto& each : all) each.get();
    EXPECT_EQ(done.load() + 20 * refused.load(), 800);
  });
}

// The same kind: ends of the scheduler inside its own items.
TEST(FullQueue, DrainAndJoinInsideAnItemAreRefused) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (const auto& to : {heddle::route::on(0), heddle::route::on(0).in_arena()}) {
      auto item = sched.submit(
          [&] {
            EXPECT_THROW(sched.drain(), heddle::would_deadlock);
            EXPECT_THROW(sched.join(), heddle::would_deadlock);
            EXPECT_THROW(static_cast<void>(sched.drain_for(std::chrono::milliseconds(1))),
                         heddle::would_deadlock);
          },
          to);
      item.get();
    }
  });
}

// iree-org/iree#15673: a completion callback that issues device work deadlocks. Right: continuations of every
// kind are items, on the device thread, that may submit, wait and launch.
TEST(Continuation, MaySubmitWaitAndLaunch) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int device = 0; device < options.host.devices; ++device) {
      const auto more = [&sched, device](heddle::device_context& context, int x) {
        EXPECT_EQ(heddle::this_device::id(), device);
        std::atomic<int> looped{0};
        context.launch(16, [&](std::int64_t) { looped.fetch_add(1); });
        context.sync();
        const int child = sched.submit([x] { return x + 1; }, heddle::route::on(device)).get();
        return child + looped.load();
      };
      auto first = sched.submit([] { return 1; }, heddle::route::on(device)).then(more).then(more).then(more);
      EXPECT_EQ(first.get(), 1 + 3 * 17);
    }
  });
}

TEST(Continuation, OnTheStreamMayPutWorkAndSubmit) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::atomic<int> submitted{0};
    std::vector<heddle::future<int>> all;
    for (int k = 0; k < 40; ++k) {
      auto item = sched.submit([k] { return k; }, heddle::route::on(k % options.host.devices));
      all.push_back(item.then_on_stream([&](heddle::device_context& context, int& value) {
        context.enqueue([&submitted] { submitted.fetch_add(1); });
        auto dropped = sched.submit([&submitted] { submitted.fetch_add(1); });
        return value;
      }));
    }
    for (int k = 0; k < 40; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
    sched.drain();
    EXPECT_EQ(submitted.load(), 80);
  });
}

TEST(Continuation, OfManyMaySubmitAndWait) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<heddle::future<int>> parts;
    for (int k = 0; k < 30; ++k)
      parts.push_back(sched.submit([k] { return k; }, heddle::route::on(k % options.host.devices)));
    auto sum = heddle::when_all(std::move(parts)).then([&sched](const std::vector<int>& all) {
      int total = 0;
      for (const int each : all) total += sched.submit([each] { return each; }).get();
      return total;
    });
    EXPECT_EQ(sum.get(), 435);
  });
}

}  // namespace
