// SPDX-License-Identifier: Apache-2.0
// The end of a scheduler while items submit, wait and queue: everything ends, exactly once, and says how.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/tracked.hpp"

namespace {

using namespace heddle::test;

// A tree of items: each submits two more until `depth` is 0.
struct tree {
  heddle::scheduler& sched;
  std::atomic<int> ran{0}, submitted{0}, refused{0};

  void grow(int depth) {
    ran.fetch_add(1);
    if (depth == 0) return;
    for (int side = 0; side < 2; ++side) {
      try {
        auto dropped = sched.submit([this, depth] { grow(depth - 1); });
        submitted.fetch_add(1);
      } catch (const heddle::scheduler_stopped&) {
        refused.fetch_add(1);
      }
    }
  }
};

// tensorflow/tensorflow#933: what draining tasks submit is lost, since the stop overtakes it. Right: join()
// runs the whole tree.
TEST(Stop, JoinRunsEverythingThatRunningItemsSubmit) {
  on_every_machine([](heddle::scheduler_options options) {
    options.queue_capacity = 1u << 17;
    heddle::scheduler sched(options);
    tree all{sched};
    auto root = sched.submit([&] { all.grow(15); });
    sched.join();
    EXPECT_EQ(all.ran.load(), (1 << 16) - 1);
    EXPECT_EQ(all.refused.load(), 0);
    EXPECT_THROW(static_cast<void>(sched.submit([] {})), heddle::scheduler_stopped);
  });
}

// The same: the destructor, with the root not even started; and continuations.
TEST(Stop, TheDestructorRunsContinuationsOfRunningItems) {
  on_every_machine([](const heddle::scheduler_options& options) {
    std::atomic<int> ran{0};
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < 100; ++k) {
        auto dropped = sched.submit([&] { ran.fetch_add(1); }).then([&] { ran.fetch_add(1); }).then([&] {
          auto inner = sched.submit([&] { ran.fetch_add(1); }).then([&] { ran.fetch_add(1); });
        });
      }
    }
    EXPECT_EQ(ran.load(), 400);
  });
}

// The same: cancelled in the middle. Right: each accepted item has run or ended as cancelled; counts add up.
TEST(Stop, CancelInTheMiddleOfATreeLosesNoItem) {
  on_every_machine([](heddle::scheduler_options options) {
    options.queue_capacity = 1u << 17;
    for (int round = 0; round < 5; ++round) {
      heddle::scheduler sched(options);
      tree all{sched};
      all.submitted = 1;
      auto root = sched.submit([&] { all.grow(12); });
      while (all.ran.load() < 1 << round) std::this_thread::yield();
      sched.cancel();
      sched.join();
      std::uint64_t ended = 0;
      for (const auto& each : sched.stats().devices) ended += each.ended + each.dropped;
      EXPECT_EQ(ended, static_cast<std::uint64_t>(all.submitted.load()));
      EXPECT_LE(all.ran.load(), all.submitted.load());
      EXPECT_EQ(sched.stats().pending, 0u);
      EXPECT_EQ(sched.stats().queued, 0u);
    }
  });
}

// agency-library/agency#308: submitting while it closes hangs. Right: each submission is run or refused.
TEST(Stop, SubmitAgainstJoinRunsOrRefusesEachItem) {
  for (int round = 0; round < 1000; ++round) {
    const auto mode = round % 2 == 0 ? heddle::host_mode::immediate : heddle::host_mode::deferred;
    heddle::scheduler sched(hosts(1 + round % 3, mode));
    std::atomic<int> ran{0}, accepted{0}, refused{0};
    std::latch together(9);
    std::vector<std::thread> submitters;
    for (int t = 0; t < 8; ++t) {
      submitters.emplace_back([&, t] {
        together.arrive_and_wait();
        for (int k = 0; k < 10; ++k) {
          try {
            const auto count = [&] { ran.fetch_add(1); };
            if (t % 4 == 0) {
              auto one = sched.submit(count, heddle::route::on(0));
            } else if (t % 4 == 1) {
              auto one = sched.submit(count);
            } else if (t % 4 == 2) {
              auto one = sched.try_submit(count);
              if (!one) throw heddle::scheduler_stopped("declined");
            } else {
              auto one = sched.submit(count, heddle::route::any().in_arena());
            }
            accepted.fetch_add(1);
          } catch (const heddle::scheduler_stopped&) {
            refused.fetch_add(1);
          }
        }
      });
    }
    together.arrive_and_wait();
    sched.join();
    for (auto& each : submitters) each.join();
    ASSERT_EQ(ran.load(), accepted.load());
    ASSERT_EQ(accepted.load() + refused.load(), 80);
  }
}

// The same: continuations attached while it closes.
TEST(Stop, ThenAgainstJoinRunsOrRefusesEachContinuation) {
  for (int round = 0; round < 200; ++round) {
    heddle::scheduler sched(hosts(2));
    std::atomic<int> ran{0}, accepted{0};
    std::vector<heddle::future<void>> parents;
    for (int k = 0; k < 50; ++k) parents.push_back(sched.submit([] {}));
    std::latch together(2);
    std::thread attacher([&] {
      together.arrive_and_wait();
      for (auto& each : parents) {
        try {
          auto next = each.then([&] { ran.fetch_add(1); });
          accepted.fetch_add(1);
        } catch (const heddle::scheduler_stopped&) {
          each.get();  // untouched
        }
      }
    });
    together.arrive_and_wait();
    sched.join();
    attacher.join();
    ASSERT_EQ(ran.load(), accepted.load());
  }
}

// The same: join from many threads at once, and again.
TEST(Stop, JoinFromManyThreadsReturnsInAll) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::atomic<int> ran{0};
    for (int k = 0; k < 200; ++k) {
      auto dropped = sched.submit([&] { ran.fetch_add(1); });
    }
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t) {
      all.emplace_back([&] {
        sched.join();
        EXPECT_EQ(ran.load(), 200);
      });
    }
    for (auto& each : all) each.join();
    sched.join();
  });
}

// ClickHouse/ClickHouse#107383: a promise broken at shutdown aborts the server. Right: the destructor runs
// what is queued, so no future is broken.
TEST(Stop, TheDestructorRunsAThousandQueuedItems) {
  on_every_machine([](const heddle::scheduler_options& options) {
    std::vector<heddle::future<int>> all;
    std::latch gate(1);
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < options.host.devices; ++k) {
        auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(k));
      }
      for (int k = 0; k < 1000; ++k) all.push_back(sched.submit([k] { return k; }));
      gate.count_down();
    }
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
  });
}

// The same: cancelled, its thousand futures give heddle's own error, after the scheduler is gone, too.
TEST(Stop, CancelledItemsEndAsCancelledAndTheirCapturesDie) {
  on_every_machine([](const heddle::scheduler_options& options) {
    tally captures;
    std::vector<heddle::future<void>> all;
    std::vector<heddle::future<void>> followers;
    std::latch gate(1);
    {
      heddle::scheduler sched(options);
      for (int k = 0; k < options.host.devices; ++k) {
        auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(k));
        while (sched.stats().devices[static_cast<std::size_t>(k)].started == 0) std::this_thread::yield();
      }
      for (int k = 0; k < 1000; ++k) {
        auto to = k % 2 == 0 ? heddle::route::any() : heddle::route::on(k % options.host.devices);
        auto item = sched.submit([c = tracked(captures)] { c.run(); }, to);
        if (k % 10 == 0) {
          followers.push_back(item.then([c = tracked(captures)] { c.run(); }));
        } else {
          all.push_back(std::move(item));
        }
      }
      sched.cancel();
      for (auto& each : all) EXPECT_TRUE(each.ready());
      gate.count_down();
    }
    for (auto& each : all) EXPECT_THROW(each.get(), heddle::cancelled);
    for (auto& each : followers) EXPECT_THROW(each.get(), heddle::cancelled);
    EXPECT_EQ(captures.ran.load(), 0);
    EXPECT_EQ(captures.live.load(), 0);
    EXPECT_EQ(captures.destroyed.load(), 1100);
  });
}

// The same: waiters are woken by the cancellation itself, while the device is still busy.
TEST(Stop, CancelWakesWhoeverWaitsWhileTheDeviceIsBusy) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::latch gate(1);
    for (int k = 0; k < options.host.devices; ++k) {
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(k));
      while (sched.stats().devices[static_cast<std::size_t>(k)].started == 0) std::this_thread::yield();
    }
    std::atomic<int> woken{0};
    std::vector<std::thread> waiters;
    for (int t = 0; t < 4; ++t) {
      waiters.emplace_back([&, item = sched.submit([] {})]() mutable {
        EXPECT_THROW(item.get(), heddle::cancelled);
        woken.fetch_add(1);
      });
    }
    sched.cancel();
    for (auto& each : waiters) each.join();
    EXPECT_EQ(woken.load(), 4);
    gate.count_down();
  });
}

// The same kind: an item whose time is over ends so, though nobody looked at it meanwhile.
TEST(Stop, AnItemThatCouldNotStartInTimeDoesNotRun) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::latch gate(1);
    for (int k = 0; k < options.host.devices; ++k) {
      auto blocker = sched.submit([&] { gate.wait(); }, heddle::route::on(k));
      while (sched.stats().devices[static_cast<std::size_t>(k)].started == 0) std::this_thread::yield();
    }
    std::atomic<int> ran{0};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    std::vector<heddle::future<void>> late;
    for (int k = 0; k < 20; ++k) {
      const auto to = k % 2 == 0 ? heddle::route::any() : heddle::route::on(k % options.host.devices);
      late.push_back(sched.submit([&] { ran.fetch_add(1); }, heddle::route(to).deadline(deadline)));
    }
    while (std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    gate.count_down();
    sched.drain();
    for (auto& each : late) EXPECT_THROW(each.get(), heddle::deadline_exceeded);
    EXPECT_EQ(ran.load(), 0);
  });
}

// The same kind: what runs learns of the wish to stop.
TEST(Stop, CancelTellsRunningItems) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<heddle::future<void>> all;
    std::latch running(options.host.devices);
    for (int k = 0; k < options.host.devices; ++k) {
      all.push_back(sched.submit(
          [&](heddle::device_context& context) {
            const auto stop = context.stop_token();
            running.count_down();
            while (!stop.stop_requested()) std::this_thread::yield();
          },
          heddle::route::on(k)));
    }
    running.wait();
    sched.cancel();
    for (auto& each : all) EXPECT_NO_THROW(each.get());
    EXPECT_EQ(sched.submit([] { return 1; }).get(), 1);
  });
}

}  // namespace
