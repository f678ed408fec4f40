// SPDX-License-Identifier: Apache-2.0
// Memory that is bounded, objects that live exactly as long as they are needed, times that are true.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/tracked.hpp"

namespace {

using namespace heddle::test;
using namespace std::chrono_literals;

// filecoin-project/rust-fil-proofs#1500: a slow GPU and a fast producer, and memory explodes. Right: a
// producer never gets further ahead than the queue and the windows allow.
TEST(Bounded, AFastProducerIsHeldBack) {
  on_every_machine([](heddle::scheduler_options options) {
    options.queue_capacity = 64;
    options.streams_per_device = 2;
    options.window_per_stream = 3;
    tally payloads;
    std::uint64_t most_queued = 0;
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < 5000; ++k) {
        auto dropped = sched.submit([p = tracked(payloads)](heddle::device_context& context) {
          p.run();
          context.enqueue([] {});
        });
        most_queued = std::max(most_queued, sched.stats().queued);
      }
    }
    EXPECT_EQ(payloads.ran.load(), 5000);
    EXPECT_LE(most_queued, 64u);
    const int in_hand =
        options.host.devices * (2 * 3 + 1) + 1;  // windows, the running one, the producer's own
    EXPECT_LE(payloads.most.load(), 64 + in_hand);
  });
}

// The same, for items that pile up while their stream work is not done.
TEST(Bounded, TheWindowBoundsItemsInFlight) {
  on_every_machine([](heddle::scheduler_options options) {
    options.streams_per_device = 2;
    options.window_per_stream = 3;
    heddle::scheduler sched(options);
    std::vector<heddle::future<void>> all;
    std::atomic<std::uint64_t> most{0};
    for (int k = 0; k < 300; ++k) {
      all.push_back(sched.submit(
          [&](heddle::device_context& context) {
            context.enqueue([] {});
            for (const auto& each : sched.stats().devices) {
              if (each.in_flight > most.load()) most = each.in_flight;
            }
          },
          heddle::route::on(k % options.host.devices)));
    }
    for (auto& each : all) each.get();
    EXPECT_LE(most.load(), 2u * 3u);
    EXPECT_GE(most.load(), 1u);
  });
}

// The same, for the lazy map: no more of its input is taken than `ahead` says.
TEST(Bounded, ALazyMapTakesNoMoreInputThanItsLookAhead) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (const std::size_t ahead : {1, 4, 9}) {
      int taken = 0;
      int read = 0;
      auto input = std::views::iota(0) | std::views::transform([&](int k) { return ++taken, k; });
      for (const int k : sched.imap([](int x) { return x; }, input, {.ahead = ahead})) {
        EXPECT_EQ(k, read++);
        EXPECT_LE(taken, read + static_cast<int>(ahead) + 1);
        if (read == 100) break;
      }
    }
  });
}

// The same: try_submit and reject never block and say so, and what was refused is untouched.
TEST(Bounded, AFullQueueDeclinesAndLeavesTheCallableUntouched) {
  on_every_machine([](heddle::scheduler_options options) {
    options.queue_capacity = 5;
    options.full = heddle::when_full::reject;
    heddle::scheduler sched(options);
    std::latch gate(1);
    for (int d = 0; d < options.host.devices; ++d) {
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(d));
      while (sched.stats().devices[static_cast<std::size_t>(d)].started == 0) std::this_thread::yield();
    }
    tally payloads;
    const auto item = [p = std::make_shared<tracked>(payloads)] { p->run(); };
    for (int k = 0; k < 5; ++k) {
      auto dropped = sched.submit(item);
    }
    auto owner = std::make_unique<int>(5);
    auto moving = [owner = std::move(owner)] { return *owner; };
    EXPECT_FALSE(sched.try_submit(std::move(moving)));
    EXPECT_THROW(static_cast<void>(sched.submit(std::move(moving))), heddle::queue_full);
    EXPECT_EQ(moving(), 5);
    gate.count_down();
    sched.drain();
    EXPECT_EQ(payloads.ran.load(), 5);
    EXPECT_EQ(sched.stats().refused, 2u);
  });
}

// dealii/dealii#1413: a handle that is dropped frees what the task still uses. Right: dropping neither blocks
// nor cancels nor frees early; every capture dies exactly once.
TEST(Lifetime, DroppedHandlesLetTheirItemsRun) {
  on_every_machine([](const heddle::scheduler_options& options) {
    tally captures;
    std::atomic<int> sum{0};
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < 500; ++k) {
        const auto to = k % 3 == 0   ? heddle::route::any()
                        : k % 3 == 1 ? heddle::route::on(k % options.host.devices)
                                     : heddle::route::any().in_arena();
        auto data = std::make_unique<std::vector<int>>(100, 1);
        auto item = sched.submit(
            [c = tracked(captures), data = std::move(data), &sum] {
              c.run();
              for (const int each : *data) sum.fetch_add(each);
            },
            to);
        if (k % 2 == 0) {
          auto next = item.then([c = tracked(captures), &sum] {
            c.run();
            sum.fetch_add(1);
          });
        }
      }
    }
    EXPECT_EQ(captures.ran.load(), 750);
    EXPECT_EQ(captures.destroyed.load(), 750);
    EXPECT_EQ(captures.live.load(), 0);
    EXPECT_EQ(sum.load(), 500 * 100 + 250);
  });
}

// The same: values, too, are destroyed once, whoever holds their future, and when.
TEST(Lifetime, ResultsThatNobodyTakesDieOnce) {
  on_every_machine([](const heddle::scheduler_options& options) {
    tally values;
    std::vector<heddle::future<tracked>> outlive;
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < 300; ++k) {
        auto item = sched.submit([&] { return tracked(values); });
        if (k % 3 == 0) outlive.push_back(std::move(item));
        if (k % 3 == 1) static_cast<void>(item.get());
      }
    }
    EXPECT_EQ(values.live.load(), 100);
    for (auto& each : outlive) EXPECT_TRUE(each.ready());
    static_cast<void>(outlive.front().get());
    outlive.clear();
    EXPECT_EQ(values.live.load(), 0);
    EXPECT_EQ(values.destroyed.load(), 300);
  });
}

// The same: what the stream work uses lives until that is done, and is gone before the future is ready.
TEST(Lifetime, CapturesLiveUntilTheStreamWorkIsDoneAndNoLonger) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    tally captures;
    for (int k = 0; k < 100; ++k) {
      auto data = std::make_unique<std::vector<int>>(64, k);
      std::atomic<int> right{0};
      auto item = sched.submit(
          [c = tracked(captures), data = std::move(data), k, &right](heddle::device_context& context) {
            auto& kept = context.keep(std::vector<int>(64, k));
            context.launch(64, [from = data.get(), &kept, k, &right](std::int64_t i) {
              const auto at = static_cast<std::size_t>(i);
              if ((*from)[at] == k && kept[at] == k) right.fetch_add(1);
            });
          },
          heddle::route::on(k % options.host.devices));
      item.get();
      ASSERT_EQ(right.load(), 64);
      ASSERT_EQ(captures.live.load(), 0);
    }
  });
}

// The same: a capture that takes its time to die has died when the result is there.
TEST(Lifetime, NoCaptureExistsOnceTheResultIsThere) {
  struct slow_to_die {
    explicit slow_to_die(std::atomic<int>& count) : dead(&count) {}
    slow_to_die(slow_to_die&& other) noexcept : dead(std::exchange(other.dead, nullptr)) {}
    ~slow_to_die() {
      if (dead == nullptr) return;
      const auto until = std::chrono::steady_clock::now() + 2ms;
      while (std::chrono::steady_clock::now() < until) {
      }
      dead->fetch_add(1);
    }
    std::atomic<int>* dead;
  };
  on_every_machine({1, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    int items = 0;
    std::atomic<int> dead{0};
    for (const auto& to : {heddle::route::any(), heddle::route::key(1), heddle::route::any().host_only(),
                           heddle::route::any().in_arena()}) {
      for (int k = 0; k < 3; ++k) {
        sched.submit([s = slow_to_die(dead)] {}, to).get();
        EXPECT_EQ(dead.load(), ++items);
      }
    }
  });
}

// The same: captures of every item die on their device's thread, those of cancelled items as well.
TEST(Lifetime, CapturesDieOnTheThreadOfTheirDevice) {
  on_every_machine([](const heddle::scheduler_options& options) {
    struct tells {
      std::atomic<int>* elsewhere;
      int id;
      tells(std::atomic<int>& e, int device) : elsewhere(&e), id(device) {}
      tells(tells&& other) noexcept : elsewhere(std::exchange(other.elsewhere, nullptr)), id(other.id) {}
      ~tells() {
        if (elsewhere != nullptr && heddle::this_device::try_id() != id) elsewhere->fetch_add(1);
      }
    };
    std::atomic<int> elsewhere{0};
    {
      heddle::scheduler sched(options);
      const int device = options.host.devices - 1;
      std::latch gate(1);
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(device));
      while (sched.stats().devices.back().started == 0) std::this_thread::yield();
      std::vector<heddle::future<void>> all;
      for (int k = 0; k < 100; ++k) {
        all.push_back(sched.submit([t = tells(elsewhere, device)] {}, heddle::route::on(device)));
        if (k % 2 == 0) {
          EXPECT_TRUE(all.back().cancel());
        }
      }
      gate.count_down();
      for (std::size_t k = 1; k < all.size(); k += 2) all[k].get();
    }
    EXPECT_EQ(elsewhere.load(), 0);
  });
}

// The same kind: a future that is read, dropped and cancelled long after its scheduler is gone.
TEST(Lifetime, FuturesOutliveTheirScheduler) {
  on_every_machine([](const heddle::scheduler_options& options) {
    std::vector<heddle::future<int>> all;
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < 40; ++k) all.push_back(sched.submit([k] { return k; }));
    }
    for (int k = 0; k < 40; ++k) {
      auto& each = all[static_cast<std::size_t>(k)];
      EXPECT_TRUE(each.ready());
      EXPECT_FALSE(each.cancel());
      EXPECT_TRUE(each.ran_on());
      if (k % 2 == 0) {
        EXPECT_THROW(static_cast<void>(each.then([](int x) { return x; })), heddle::scheduler_stopped);
      }
      EXPECT_EQ(each.get(), k);
    }
  });
}

// halide/Halide#2278: what is measured is the queueing, not the work. Right: an item's times contain all of
// its work, on the stream too.
TEST(Times, AreNeverShorterThanTheWorkOfTheItem) {
  constexpr auto work = 10ms;
  const auto busy = [work] {
    const auto until = std::chrono::steady_clock::now() + work;
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  on_every_machine({1, 2}, [&](heddle::scheduler_options options) {
    options.record_times = true;
    heddle::scheduler sched(options);
    const auto check = [&](auto item) {
      const auto before = sched.stats().devices[0].busy;
      auto f = sched.submit(item, heddle::route::on(0));
      f.wait();
      const auto times = f.times();
      ASSERT_TRUE(times);
      EXPECT_LE(times->queued, times->started);
      EXPECT_GE(times->done - times->started, work);
      EXPECT_GE(sched.stats().devices[0].busy - before, work);
      f.get();
    };
    check(busy);
    check([&](heddle::device_context& context) { context.enqueue(busy); });
    check([&](heddle::device_context& context) { context.launch(1, [&](std::int64_t) { busy(); }); });
    check([&](heddle::device_context& context) {
      const auto other = context.stream(context.stream_count() - 1);
      other.enqueue(busy);
      context.join(other);
    });
  });
}

// The same: an item that failed, or never started, does not pass for one that was quick.
TEST(Times, TellFailedAndCancelledItemsApart) {
  on_every_machine({1, 4}, [](heddle::scheduler_options options) {
    options.record_times = true;
    heddle::scheduler sched(options);
    std::latch gate(1);
    auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(0));
    while (sched.stats().devices[0].started == 0) std::this_thread::yield();
    auto cancelled = sched.submit([] {}, heddle::route::on(0));
    auto failed = sched.submit([] { throw 1; }, heddle::route::on(0));
    EXPECT_TRUE(cancelled.cancel());
    gate.count_down();
    failed.wait();
    blocker.get();
    EXPECT_FALSE(cancelled.ran_on());
    EXPECT_EQ(failed.ran_on(), 0);
    EXPECT_THROW(cancelled.get(), heddle::cancelled);
    EXPECT_THROW(failed.get(), int);
    sched.drain();
    const auto stats = sched.stats().devices[0];
    EXPECT_EQ(stats.failed, 1u);
    EXPECT_EQ(stats.dropped, 1u);
    EXPECT_EQ(stats.ended, 2u);
  });
}

}  // namespace
