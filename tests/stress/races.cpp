// SPDX-License-Identifier: Apache-2.0
// Two things at the same time, over and over: each pair has one winner.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/seed.hpp"
#include "stress/tracked.hpp"

namespace {

using namespace heddle::test;

// An item that is cancelled while it starts has run, or has been cancelled, never both and never neither.
TEST(Race, CancelAgainstStartHasOneWinner) {
  dice choose(stress_seed(), 0);
  on_every_machine({1, 2, 4}, [&](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    tally captures;
    int made = 0;
    int both = 0;
    int cancelled = 0;
    for (int round = 0; round < 2000; ++round) {
      std::atomic<bool> ran{false};
      auto item = sched.submit([c = tracked(captures), &ran] { ran = true; },
                               heddle::route::on(choose.below(options.host.devices)));
      ++made;
      for (int spin = choose.below(300); spin > 0; --spin) __asm__ volatile("");
      const bool won = item.cancel();
      bool threw = false;
      try {
        item.get();
      } catch (const heddle::cancelled&) {
        threw = true;
      }
      cancelled += won;
      if (won != threw) ++both;
      if (won) sched.drain();  // its callable dies on the device thread
      if (won == ran.load()) ++both;
    }
    EXPECT_EQ(both, 0);
    EXPECT_EQ(captures.destroyed.load(), made);
    EXPECT_EQ(sched.stats().devices.size(), static_cast<std::size_t>(options.host.devices));
    std::uint64_t dropped = 0;
    for (const auto& each : sched.stats().devices) dropped += each.dropped;
    EXPECT_EQ(dropped, static_cast<std::uint64_t>(cancelled));
  });
}

// Four cancellers of each item, of four kinds: at most one wins, and the item ends once.
TEST(Race, SeveralCancellersOfOneItemHaveAtMostOneWinner) {
  on_every_machine({1, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> ran{0}, ends{0};
      std::stop_source stop;
      auto item = sched.submit([&] { ran.fetch_add(1); }, heddle::route::any()
                                                              .stop(stop.get_token())
                                                              .deadline(std::chrono::steady_clock::now() +
                                                                        std::chrono::microseconds(60)));
      std::latch together(3);
      std::thread one([&] {
        together.arrive_and_wait();
        stop.request_stop();
      });
      std::thread two([&] {
        together.arrive_and_wait();
        sched.cancel();
      });
      together.arrive_and_wait();
      item.cancel();
      try {
        item.get();
        ends.fetch_add(ran.load());
      } catch (const heddle::cancelled&) {
        ends.fetch_add(1 - ran.load());
      } catch (const heddle::deadline_exceeded&) {
        ends.fetch_add(1 - ran.load());
      }
      one.join();
      two.join();
      ASSERT_EQ(ends.load(), 1);
    }
  });
}

// A continuation that is attached while its parent ends runs once.
TEST(Race, ThenAgainstTheEndOfItsParentRunsOnce) {
  dice choose(stress_seed(), 0);
  on_every_machine({1, 2, 4}, [&](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::atomic<int> ran{0};
    for (int round = 0; round < 3000; ++round) {
      auto parent = sched.submit([round] { return round; });
      for (int spin = choose.below(400); spin > 0; --spin) __asm__ volatile("");
      if (choose.one_in(2)) {
        ASSERT_EQ(parent.then([&](int x) { return ran.fetch_add(1), x; }).get(), round);
      } else {
        ASSERT_EQ(parent.then_on_stream([&](int& x) { return ran.fetch_add(1), x; }).get(), round);
      }
    }
    EXPECT_EQ(ran.load(), 3000);
  });
}

// A future that is dropped while its item ends is freed once (the address sanitizer would tell), and its
// value and captures die once.
TEST(Race, DropAgainstTheEndOfTheItemFreesOnce) {
  dice choose(stress_seed(), 0);
  on_every_machine({1, 4}, [&](const heddle::scheduler_options& options) {
    tally values;
    {
      heddle::scheduler sched(options);
      for (int round = 0; round < 5000; ++round) {
        std::optional item = sched.submit([c = tracked(values), &values] { return tracked(values); });
        for (int spin = choose.below(400); spin > 0; --spin) __asm__ volatile("");
        item.reset();
      }
    }
    EXPECT_EQ(values.live.load(), 0);
    EXPECT_EQ(values.destroyed.load(), 10000);
  });
}

// A waiter with a time limit, at about the time of the end.
TEST(Race, WaitForAgainstTheEndNeverLosesTheEnd) {
  dice choose(stress_seed(), 0);
  on_every_machine({1, 4}, [&](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int round = 0; round < 2000; ++round) {
      auto item = sched.submit([] { return 1; });
      while (!item.wait_for(std::chrono::microseconds(choose.below(40)))) {
      }
      ASSERT_TRUE(item.ready());
      ASSERT_EQ(item.get(), 1);
    }
  });
}

// Single items, far apart, on devices that sleep: no wake is lost.
TEST(Race, ASleepingDeviceWakesForEachSingleItem) {
  dice choose(stress_seed(), 0);
  on_every_machine([&](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int round = 0; round < 3000; ++round) {
      const int device = choose.below(options.host.devices);
      const int kind = choose.below(3);
      auto item = kind == 0   ? sched.submit([] { return 1; })
                  : kind == 1 ? sched.submit([] { return 1; }, heddle::route::on(device))
                              : sched.submit([] { return 1; }, heddle::route::on(device).in_arena());
      ASSERT_EQ(item.get(), 1);
      for (int spin = choose.below(3000); spin > 0; --spin) __asm__ volatile("");
    }
  });
}

// The same, at each moment of a device's way into sleep: after its last look, before it says that it sleeps.
TEST(Race, AnItemThatComesWhileTheOnlyFreeDeviceGoesToSleepIsNotLeftLying) {
  dice choose(stress_seed(), 0);
  for (const int devices : {1, 2, 4}) {
    heddle::scheduler sched(hosts(devices));
    std::latch gate(1);
    for (int k = 1; k < devices; ++k) {  // nobody else could take it
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(k));
      while (sched.stats().devices[static_cast<std::size_t>(k)].started == 0) std::this_thread::yield();
    }
    for (int round = 0; round < 20000; ++round) {
      auto item = sched.submit([] { return 1; });
      const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!item.ready()) {
        if (std::chrono::steady_clock::now() > soon) break;
      }
      EXPECT_TRUE(item.ready()) << "left lying in round " << round;
      if (!item.ready()) break;
      for (int spin = choose.below(round % 2 == 0 ? 1000 : 20000); spin > 0; --spin) __asm__ volatile("");
    }
    gate.count_down();
  }
}

// The same, from several threads, of which each waits for its own.
TEST(Race, SubmittersThatWaitForTheirOwnItemsAreAllServed) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<std::thread> threads;
    std::atomic<int> served{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 1000; ++round) {
          const auto to = round % 2 == 0 ? heddle::route::any() : heddle::route::on(t % options.host.devices);
          served.fetch_add(sched.submit([] { return 1; }, to).get());
        }
      });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(served.load(), 4000);
  });
}

}  // namespace
