// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Sync);
HEDDLE_CONTRACT_SUITE(Streams);

TEST_P(Sync, WaitsForTheItemsStream) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    int value = 0;
    for (int k = 0; k < 10; ++k) c.enqueue([&value] { ++value; });
    c.sync();
    return value;
  });
  EXPECT_EQ(f.get(), 10);
}

TEST_P(Sync, ThrowsWhatTheWorkThrewOnce) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    bool thrown = false;
    try {
      c.enqueue([] { throw std::range_error("work"); });
      c.sync();
    } catch (const std::range_error&) {
      thrown = true;
    }
    int value = 0;
    c.enqueue([&value] { value = 1; });
    c.sync();
    return thrown && value == 1;
  });
  EXPECT_TRUE(f.get());
}

TEST_P(Sync, OfAnEmptyStreamReturns) {
  scheduler sched(options(2));
  sched
      .submit([](device_context& c) {
        c.sync();
        c.sync();
      })
      .get();
}

TEST_P(Sync, RunsNoOtherItem) {
  scheduler sched(options(1));
  std::atomic<int> others{0};
  gate queued;
  gate running;
  auto f = sched.submit([&](device_context& c) {
    running.open();
    queued.wait();
    int value = 0;
    c.enqueue([&value] { value = 1; });
    c.sync();
    return others.load();
  });
  running.wait();
  auto other = sched.submit([&] { ++others; });
  queued.open();
  EXPECT_EQ(f.get(), 0);
  other.get();
}

TEST_P(Streams, HaveTheNumbersThatTheOptionsSay) {
  auto chosen = options(2);
  chosen.streams_per_device = 3;
  scheduler sched(chosen);
  sched
      .submit([](device_context& c) {
        EXPECT_EQ(c.stream_count(), 3);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(c.stream(k).index(), k);
        EXPECT_THROW((void)c.stream(3), invalid_option);
        EXPECT_THROW((void)c.stream(-1), invalid_option);
      })
      .get();
}

TEST_P(Streams, AreNativeOnCudaOnly) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) { return c.native_stream(); });
  if (on_host()) {
    EXPECT_THROW((void)f.get(), invalid_option);
  } else {
    EXPECT_NE(f.get(), nullptr);
  }
}

TEST_P(Streams, JoinedCountForTheItem) {
  auto chosen = options(1);
  chosen.streams_per_device = 4;
  scheduler sched(chosen);
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> done{0};
    auto f = sched.submit([&](device_context& c) {
      for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 5; ++j) c.stream(k).enqueue([&] { ++done; });
        c.join(c.stream(k));
      }
    });
    f.wait();
    ASSERT_EQ(done, 20);
  }
}

TEST_P(Streams, WaitForEventsOfOneAnother) {
  auto chosen = options(1);
  chosen.streams_per_device = 3;
  scheduler sched(chosen);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> order;
    auto f = sched.submit([&](device_context& c) {
      const auto a = c.stream(0);
      const auto b = c.stream(1);
      a.enqueue([&] { order.push_back(1); });
      b.wait(a.record());
      b.enqueue([&] { order.push_back(2); });
      a.wait(b.record());
      a.enqueue([&] { order.push_back(3); });
      c.join(a);
      c.join(b);
    });
    f.get();
    ASSERT_EQ(order, (std::vector<int>{1, 2, 3}));
  }
}

TEST_P(Streams, WaitForEventsOfOtherDevices) {
  scheduler sched(options(2));
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> value{0};
    event made;
    gate recorded;
    auto first = sched.submit(
        [&](device_context& c) {
          for (int k = 0; k < 20; ++k) c.enqueue([&] { ++value; });
          made = c.record();
          recorded.open();
        },
        route::on(0));
    auto second = sched.submit(
        [&](device_context& c) {
          recorded.wait();
          c.wait(made);
          int& seen = c.keep(-1);
          c.enqueue([&] { seen = value; });
          c.enqueue([&seen] { ASSERT_EQ(seen, 20); });
        },
        route::on(1));
    first.get();
    second.get();
  }
}

TEST_P(Streams, WaitForADefaultEventNotAtAll) {
  scheduler sched(options(2));
  sched
      .submit([](device_context& c) {
        c.wait(event());
        c.sync();
      })
      .get();
}

TEST_P(Streams, RefuseAnEventOfAnotherScheduler) {
  scheduler many(options(6));
  scheduler few(options(1));
  event foreign;
  many.submit(
          [&](device_context& c) {
            c.enqueue([] {});
            foreign = c.record();
          },
          route::on(5))
      .get();
  auto f = few.submit([&](device_context& c) { c.wait(foreign); });
  if (!deferred()) {  // reached already, and says nothing more
    EXPECT_NO_THROW(f.get());
  } else {
    EXPECT_THROW(f.get(), invalid_option);
  }
}

TEST_P(Streams, JoinedGiveTheirErrorToTheItem) {
  auto chosen = options(1);
  chosen.streams_per_device = 2;
  scheduler sched(chosen);
  auto f = sched.submit([](device_context& c) {
    const auto other = c.stream(1 - c.stream().index());
    other.enqueue([] { throw std::domain_error("other stream"); });
    c.join(other);
  });
  EXPECT_THROW(f.get(), std::domain_error);
}

TEST_P(Streams, NotJoinedDoNotFailOtherItems) {
  auto chosen = options(1);
  chosen.streams_per_device = 2;
  scheduler sched(chosen);
  auto guilty =
      sched.submit([](device_context& c) { c.stream(1).enqueue([] { throw 1; }); }, route::on(0).stream(0));
  auto innocent = sched.submit([](device_context& c) { c.enqueue([] {}); }, route::on(0).stream(1));
  EXPECT_NO_THROW(innocent.get());
  try {
    guilty.get();  // immediate: thrown in the callable
  } catch (int) {
  }
}

TEST_P(Streams, NotJoinedRunAllTheSame) {
  auto chosen = options(1);
  chosen.streams_per_device = 2;
  std::atomic<int> runs{0};
  scheduler sched(chosen);
  sched
      .submit([&](device_context& c) { c.stream(1).enqueue([&, alive = counted()] { ++runs; }); },
              route::on(0).stream(0))
      .get();
  sched.join();
  EXPECT_EQ(runs, 1);
}

TEST_P(Streams, AreAllUsedByItemsThatNameNone) {
  auto chosen = options(1);
  chosen.streams_per_device = 4;
  scheduler sched(chosen);
  std::set<int> seen;
  for (int k = 0; k < 50; ++k)
    seen.insert(sched.submit([](device_context& c) { return c.stream().index(); }).get());
  // On a GPU the last stream is kept for items of high priority.
  EXPECT_EQ(seen.size(), on_host() ? 4u : 3u);
  const auto urgent = route::any().priority(1);
  EXPECT_EQ(seen.count(sched.submit([](device_context& c) { return c.stream().index(); }, urgent).get()),
            on_host() ? 1u : 0u);
}

}  // namespace
}  // namespace heddle::test
