// SPDX-License-Identifier: Apache-2.0
// Callables that throw: what they throw arrives, once, at the right place, and nothing else suffers.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/thrown_types.hpp"
#include "stress/tracked.hpp"

namespace {

using namespace heddle::test;

// taskflow/taskflow#479: a task that throws leaves the waiter hanging. Right: the wait returns, the same type
// arrives, and the next item runs.
TEST(Exceptions, OfEveryTypeArriveUnchangedAndTheNextItemRuns) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for_each_thrown_type([&](auto bad, auto is_it) {
      for (const auto& to : {heddle::route::any(), heddle::route::on(options.host.devices - 1),
                             heddle::route::key(3), heddle::route::any().in_arena()}) {
        auto item = sched.submit(bad, to);
        auto next = sched.submit([] { return 1; }, to);
        item.wait();
        EXPECT_TRUE(is_it(thrown_by([&] { item.get(); })));
        EXPECT_EQ(next.get(), 1);
      }
    });
  });
}

TEST(Exceptions, OfStreamWorkArriveUnchangedAndTheNextItemRuns) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for_each_thrown_type([&](auto bad, auto is_it) {
      for (int device = 0; device < options.host.devices; ++device) {
        const auto to = heddle::route::on(device).stream(0);
        auto enqueued = sched.submit([&](heddle::device_context& c) { c.enqueue(bad); }, to);
        auto launched = sched.submit(
            [&](heddle::device_context& c) {
              c.launch(100, [bad](std::int64_t i) {
                if (i == 50) bad();
              });
            },
            to);
        auto next = sched.submit([](heddle::device_context& c) { c.enqueue([] {}); }, to);
        EXPECT_TRUE(is_it(thrown_by([&] { enqueued.get(); })));
        EXPECT_TRUE(is_it(thrown_by([&] { launched.get(); })));
        EXPECT_NO_THROW(next.get());
      }
    });
  });
}

TEST(Exceptions, PassThroughContinuationsThatAreNotRun) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for_each_thrown_type([&](auto bad, auto is_it) {
      std::atomic<int> ran{0};
      auto chain = sched.submit(bad).then([&] { ran.fetch_add(1); }).then([&] { ran.fetch_add(1); });
      EXPECT_TRUE(is_it(thrown_by([&] { chain.get(); })));
      std::vector<heddle::future<void>> parts;
      parts.push_back(sched.submit([] {}));
      parts.push_back(sched.submit(bad));
      parts.push_back(sched.submit([] {}));
      auto all = heddle::when_all(std::move(parts));
      EXPECT_TRUE(is_it(thrown_by([&] { all.get(); })));
      auto on_stream = sched.submit(bad).then_on_stream([&] { ran.fetch_add(1); });
      EXPECT_TRUE(is_it(thrown_by([&] { on_stream.get(); })));
      EXPECT_EQ(ran.load(), 0);
    });
  });
}

TEST(Exceptions, OfMapsAndBroadcastsAndDeviceLocalsArriveUnchanged) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const std::vector<int> input(37, 1);
    for_each_thrown_type([&](auto bad, auto is_it) {
      EXPECT_TRUE(is_it(thrown_by([&] { sched.map([&](int) { bad(); }, input); })));
      EXPECT_TRUE(is_it(thrown_by([&] {
        for (const int one : sched.imap([&](int x) { return bad(), x; }, input)) static_cast<void>(one);
      })));
      EXPECT_TRUE(is_it(thrown_by([&] {
        for (const int one : sched.imap_unordered([&](int x) { return bad(), x; }, input))
          static_cast<void>(one);
      })));
      for (auto& each : sched.broadcast(bad)) EXPECT_TRUE(is_it(thrown_by([&] { each.get(); })));
      EXPECT_TRUE(is_it(thrown_by([&] {
        heddle::device_local<int> none(sched, [&](heddle::device_context&) { return bad(), 1; });
      })));
      EXPECT_TRUE(is_it(thrown_by([&] { heddle::as_device(sched, 0, bad); })));
    });
    EXPECT_EQ(sched.submit([] { return 2; }).get(), 2);
  });
}

// The same kind: the very object, not a copy that may have lost its derived part.
TEST(Exceptions, TheSameObjectArrives) {
  on_every_machine({1, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto made = std::make_exception_ptr(derived("one of its kind"));
    auto item = sched.submit([made] { std::rethrow_exception(made); });
    EXPECT_EQ(thrown_by([&] { item.get(); }), made);
  });
}

// h2oai/datatable#2521: one thread throws and the others wait at a barrier for ever. Right: a loop over the
// devices that throws at its first, a middle or its last call returns, with exactly one exception, and none
// of its calls runs afterwards.
TEST(Exceptions, AMapThatThrowsAnywhereLeavesNoCallRunning) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<int> input(60);
    for (int k = 0; k < 60; ++k) input[static_cast<std::size_t>(k)] = k;
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
      for (const int bad : {0, 29, 59}) {
        std::atomic<int> now{0}, most{0}, after{0};
        std::atomic<bool> over{false};
        int exceptions = 0;
        try {
          sched.map(
              [&](heddle::device_context& context, int k) {
                const inside running(now, most);
                if (over) after.fetch_add(1);
                context.launch(8, [](std::int64_t) {});
                if (k == bad) throw k;
              },
              input, {.chunk = chunk});
        } catch (int k) {
          ++exceptions;
          EXPECT_EQ(k, bad);
          EXPECT_EQ(now.load(), 0);
          over = true;
        }
        EXPECT_EQ(exceptions, 1);
        sched.drain();
        EXPECT_EQ(after.load(), 0);
      }
    }
  });
}

// The same, where every device throws at once.
TEST(Exceptions, AMapOfWhichEveryCallThrowsThrowsTheFirstByPosition) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::vector<int> input(200);
    for (int k = 0; k < 200; ++k) input[static_cast<std::size_t>(k)] = k;
    for (int round = 0; round < 20; ++round) {
      const auto error = thrown_by([&] { sched.map([](int k) { throw k; }, input, {.chunk = 1}); });
      ASSERT_TRUE(error);
      try {
        std::rethrow_exception(error);
      } catch (int k) {
        EXPECT_EQ(k, 0);
      }
    }
  });
}

// The same: position decides, not time.
TEST(Exceptions, AMapThrowsTheFirstFailureByPositionNotByTime) {
  on_every_machine({2, 4, 8}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::latch late_one_has_thrown(1);
    struct leave {
      std::latch& gate;
      ~leave() { gate.count_down(); }
    };
    const std::vector<int> input{0, 1};
    const auto error = thrown_by([&] {
      sched.map(
          [&](int k) {
            if (k == 1) {
              const leave at_the_end{late_one_has_thrown};
              throw k;
            }
            late_one_has_thrown.wait();
            throw k;
          },
          input, {.chunk = 1});
    });
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (int k) {
      EXPECT_EQ(k, 0);
    }
  });
}

// The same: a loop on one device's arena whose body throws at its first, a middle or its last index.
TEST(Exceptions, ALoopOnEveryDeviceThatThrowsOnOneEndsOnAll) {
  const tbb::global_control workers(tbb::global_control::max_allowed_parallelism, 5);
  on_every_machine([](heddle::scheduler_options options) {
    options.arena_threads = 4;
    heddle::scheduler sched(options);
    const int devices = options.host.devices;
    for (const int bad_device : {0, devices / 2, devices - 1}) {
      for (const std::int64_t bad : {0, 500, 999}) {
        std::atomic<int> now{0}, most{0};
        auto all = sched.broadcast([&now, &most, bad, bad_device](heddle::device_context& context) {
          const bool mine = context.id() == bad_device;
          context.launch(1000, [&now, &most, bad, mine](std::int64_t i) {
            const inside running(now, most);
            if (mine && i == bad) throw not_an_exception{static_cast<int>(i)};
          });
        });
        int failed = 0;
        for (auto& each : all) {
          try {
            each.get();
          } catch (const not_an_exception& e) {
            EXPECT_EQ(e.code, bad);
            ++failed;
          }
        }
        EXPECT_EQ(failed, 1);
        EXPECT_EQ(now.load(), 0);
      }
    }
  });
}

// cms-sw/cmssw#21769: an exception in a task disappears. Right: whose handle nobody holds goes to `on_error`,
// once, and the count of failures tells it.
TEST(Exceptions, OfDroppedItemsReachOnErrorOnce) {
  on_every_machine([](heddle::scheduler_options options) {
    std::mutex mutex;
    std::vector<heddle::error_event> events;
    options.on_error = [&](const heddle::error_event& e) {
      const std::lock_guard lock(mutex);
      events.push_back(e);
    };
    int thrown = 0;
    {
      heddle::scheduler sched(options);
      for_each_thrown_type([&](auto bad, auto) {
        const int device = options.host.devices - 1;
        ++thrown;
        auto dropped = sched.submit(bad, heddle::route::on(device).label("dropped"));
      });
      ++thrown;  // the error of a chain is one error, however long the chain
      {
        auto dropped = sched.submit([] { throw 1; }).then([] {}).then([] {});
      }
      ++thrown;
      {
        auto dropped = sched.submit([] { throw 1; }, heddle::route::any().in_arena());
      }
      sched.drain();
      std::uint64_t failed = 0;
      for (const auto& each : sched.stats().devices) failed += each.failed;
      EXPECT_EQ(failed, static_cast<std::uint64_t>(thrown) + 2);  // each link of the chain has failed
    }
    ASSERT_EQ(events.size(), static_cast<std::size_t>(thrown));
    int labelled = 0;
    for (const auto& each : events) {
      EXPECT_TRUE(each.error);
      EXPECT_TRUE(each.device);
      EXPECT_FALSE(each.message.empty());
      if (each.label != "dropped") continue;
      ++labelled;
      EXPECT_EQ(each.device, options.host.devices - 1);
    }
    EXPECT_EQ(labelled, thrown - 2);
  });
}

// The same: the errors of a when_all that are not the first are not lost, and each arrives once.
TEST(Exceptions, OfAJoinBeyondTheFirstReachOnError) {
  on_every_machine([](heddle::scheduler_options options) {
    std::atomic<int> told{0};
    options.on_error = [&](const heddle::error_event&) { told.fetch_add(1); };
    heddle::scheduler sched(options);
    std::vector<heddle::future<void>> parts;
    for (int k = 0; k < 10; ++k) parts.push_back(sched.submit([k] { throw k; }));
    try {
      heddle::when_all(std::move(parts)).get();
      ADD_FAILURE() << "the join of ten failures has succeeded";
    } catch (int k) {
      EXPECT_EQ(k, 0);
    }
    sched.drain();
    EXPECT_EQ(told.load(), 9);
  });
}

// The same: an error that was taken is told to nobody else, and an on_error that throws harms nobody.
TEST(Exceptions, AThrowingErrorHandlerHarmsNothing) {
  on_every_machine([](heddle::scheduler_options options) {
    std::atomic<int> told{0};
    options.on_error = [&](const heddle::error_event&) {
      told.fetch_add(1);
      throw 5;
    };
    heddle::scheduler sched(options);
    EXPECT_TRUE(thrown_by([&] { sched.submit([] { throw 1; }).get(); }));
    EXPECT_EQ(told.load(), 0);
    for (int k = 0; k < 5; ++k) {
      auto dropped = sched.submit([] { throw 1; });
    }
    sched.drain();
    EXPECT_EQ(told.load(), 5);
    EXPECT_EQ(sched.submit([] { return 3; }).get(), 3);
  });
}

// The same kind: a device whose on_start throws is named, and the exception is there for who wants it.
TEST(Exceptions, OfOnStartAreNamedAndNested) {
  on_every_machine([](heddle::scheduler_options options) {
    for_each_thrown_type([&](auto bad, auto is_it) {
      options.on_start = [&, bad](heddle::device_context& context) {
        if (context.id() == options.host.devices - 1) bad();
      };
      const auto error = thrown_by([&] { heddle::scheduler sched(options); });
      ASSERT_TRUE(error);
      try {
        std::rethrow_exception(error);
      } catch (const heddle::no_device& refusal) {
        EXPECT_TRUE(is_it(thrown_by([&] { std::rethrow_if_nested(refusal); })));
      }
    });
  });
}

}  // namespace
