// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Route);

using clock = std::chrono::steady_clock;

TEST_P(Route, RefusesAnUnknownDeviceAndNamesTheKnownOnes) {
  scheduler sched(options(2));
  try {
    (void)sched.submit([] {}, route::on(5));
    FAIL();
  } catch (const invalid_option& e) {
    EXPECT_NE(std::string(e.what()).find('5'), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("0, 1"), std::string::npos);
  }
  EXPECT_THROW((void)sched.submit([] {}, route::on(-1)), invalid_option);
}

TEST_P(Route, RefusesAStreamThatTheDeviceHasNot) {
  auto chosen = options(2);
  chosen.streams_per_device = 3;
  scheduler sched(chosen);
  EXPECT_THROW((void)sched.submit([] {}, route::on(0).stream(3)), invalid_option);
  EXPECT_THROW((void)sched.submit([] {}, route::on(0).stream(-1)), invalid_option);
  EXPECT_THROW((void)sched.submit([] {}, route::any().stream(1 << 20)), invalid_option);
  sched.submit([](device_context& c) { EXPECT_EQ(c.stream().index(), 2); }, route::on(0).stream(2)).get();
}

TEST_P(Route, StartsLargerPrioritiesFirst) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    for (const int p : {1, -7, 5, 0, 9, 5}) {
      all.push_back(sched.submit([&order, p] { order.push_back(p); }, route::any().priority(p)));
    }
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{9, 5, 5, 1, 0, -7}));
}

TEST_P(Route, ComparesPrioritiesOfSharedAndPinnedItems) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    all.push_back(sched.submit([&] { order.push_back(1); }, route::on(0).priority(1)));
    all.push_back(sched.submit([&] { order.push_back(2); }, route::any().priority(2)));
    all.push_back(sched.submit([&] { order.push_back(3); }, route::on(0).priority(3)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST_P(Route, TakesTheOlderTicketAmongEqualPriorities) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    for (int k = 0; k < 20; ++k) {
      all.push_back(sched.submit([&order, k] { order.push_back(k); }, k % 2 ? route::any() : route::on(0)));
    }
  }
  for (auto& each : all) each.get();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Route, TakesEveryIntAsPriority) {
  scheduler sched(options(1));
  std::vector<int> order;
  std::vector<future<void>> all;
  const int least = std::numeric_limits<int>::min();
  const int most = std::numeric_limits<int>::max();
  {
    const occupied_device busy(sched, 0);
    for (const int p : {least, 0, most})
      all.push_back(sched.submit([&order, p] { order.push_back(p); }, route::any().priority(p)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(order, (std::vector<int>{most, 0, least}));
}

// Source: NTIA/scos-sensor#103: low priority may never run.
TEST_P(Route, StartsTheOldestItemWithinThirtyTwoWhateverItsPriority) {
  scheduler sched(options(1));
  int starts = 0;
  int low_start = -1;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    all.push_back(sched.submit([&] { low_start = starts++; }, route::any().priority(-1)));
    for (int k = 0; k < 200; ++k) all.push_back(sched.submit([&] { ++starts; }, route::any().priority(1)));
  }
  for (auto& each : all) each.get();
  EXPECT_GE(low_start, 0);
  EXPECT_LT(low_start, 32);
}

TEST_P(Route, ShowsItsLabelInsideAndOnTheFuture) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) { return c.label(); }, route::any().label("fft"));
  EXPECT_EQ(f.label(), "fft");
  EXPECT_EQ(f.get(), "fft");
  auto without = sched.submit([](device_context& c) { return c.label(); });
  EXPECT_EQ(without.label(), "");
  EXPECT_EQ(without.get(), "");
}

TEST_P(Route, MayBeReused) {
  scheduler sched(options(2));
  const auto where = route::on(1).label("twice");
  for (int k = 0; k < 2; ++k) EXPECT_EQ(sched.submit([] { return this_device::id(); }, where).get(), 1);
}

TEST_P(Route, CompletesItemsOfOneStreamInTheOrderTheyStart) {
  auto chosen = options(1);
  chosen.record_times = true;
  scheduler sched(chosen);
  std::vector<int> done;  // written when the captures die: at the end, by the device thread
  struct at_end {
    std::vector<int>* list;
    int number;
    at_end(std::vector<int>* l, int n) : list(l), number(n) {}
    at_end(at_end&& o) noexcept : list(std::exchange(o.list, nullptr)), number(o.number) {}
    ~at_end() {
      if (list != nullptr) list->push_back(number);
    }
  };
  std::vector<future<void>> all;
  for (int k = 0; k < 200; ++k) {
    all.push_back(sched.submit(
        [k, end = at_end(&done, k)](device_context& c) {
          if (k % 3 == 0) c.enqueue([] {});
          if (k % 7 == 0) throw k;
        },
        k % 5 == 0 ? route::on(0).stream(2).host_only() : route::on(0).stream(2)));
  }
  for (int k = 0; k < 200; ++k) {
    auto& f = all[static_cast<std::size_t>(k)];
    if (k % 7 == 0) {
      EXPECT_THROW(f.get(), int);
    } else {
      f.get();
    }
  }
  ASSERT_EQ(done.size(), 200u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST_P(Route, KeepsItemsOfAKeyOnOneDeviceAndStreamInOrder) {
  scheduler sched(options(3));
  std::map<std::uint64_t, std::vector<int>> order;
  std::map<std::uint64_t, std::set<std::pair<int, int>>> places;
  std::mutex mutex;
  std::vector<future<void>> all;
  for (int k = 0; k < 300; ++k) {
    const auto key = static_cast<std::uint64_t>(k % 10) * 0x1234567;
    all.push_back(sched.submit(
        [&, key, k](device_context& c) {
          const std::lock_guard lock(mutex);
          order[key].push_back(k);
          places[key].emplace(c.id(), c.stream().index());
        },
        route::key(key)));
  }
  for (auto& each : all) each.get();
  std::set<int> devices;
  for (const auto& [key, list] : order) {
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    EXPECT_EQ(places[key].size(), 1u);
    devices.insert(places[key].begin()->first);
  }
  EXPECT_GT(devices.size(), 1u) << "keys are spread";
}

TEST_P(Route, OfAKeyStaysWhenItsDeviceIsOverloaded) {
  scheduler sched(options(2));
  const int home = sched.submit([] { return this_device::id(); }, route::key(77)).get();
  std::vector<future<int>> all;
  {
    const occupied_device busy(sched, home);
    for (int k = 0; k < 100; ++k)
      all.push_back(sched.submit([] { return this_device::id(); }, route::key(77)));
  }
  for (auto& each : all) EXPECT_EQ(each.get(), home);
}

TEST_P(Route, OfAKeyLeavesAnOverloadedDeviceWhenItMaySpill) {
  scheduler sched(options(2));
  const int home = sched.submit([] { return this_device::id(); }, route::key(77).spill()).get();
  occupied_device busy(sched, home);
  std::vector<future<int>> all;
  for (int k = 0; k < 100; ++k) {
    all.push_back(sched.submit([] { return this_device::id(); }, route::key(77).spill()));
  }
  EXPECT_EQ(all.back().get(), 1 - home);
  EXPECT_FALSE(all.front().ready());
  busy.release();
  EXPECT_EQ(all.front().get(), home);
}

TEST_P(Route, StoppedBeforeItIsSubmittedNeverRuns) {
  scheduler sched(options(2));
  std::stop_source source;
  source.request_stop();
  death_record record;
  auto f = sched.submit([m = mortal(record)] { FAIL(); }, route::any().stop(source.get_token()));
  EXPECT_THROW(f.get(), cancelled);
  sched.drain();
  EXPECT_EQ(record.deaths, 1);
}

TEST_P(Route, StoppedWhileItWaitsEndsAtOnce) {
  scheduler sched(options(2));
  std::stop_source source;
  occupied_device busy(sched, 0);
  death_record record;
  auto f = sched.submit([m = mortal(record)] { FAIL(); }, route::on(0).stop(source.get_token()));
  EXPECT_FALSE(f.ready());
  source.request_stop();
  EXPECT_TRUE(f.ready());
  EXPECT_THROW(f.get(), cancelled);
  EXPECT_EQ(record.deaths, 0) << "it dies on the device thread";
  busy.release();
  sched.drain();
  EXPECT_EQ(record.deaths, 1);
}

TEST_P(Route, StoppedWhileItRunsIsTold) {
  scheduler sched(options(2));
  std::stop_source source;
  gate running;
  auto f = sched.submit(
      [&](device_context& c) {
        const auto token = c.stop_token();
        running.open();
        while (!token.stop_requested()) std::this_thread::yield();
        return 1;
      },
      route::any().stop(source.get_token()));
  running.wait();
  source.request_stop();
  EXPECT_EQ(f.get(), 1);
}

TEST_P(Route, StoppedAfterItsEndHarmsNothing) {
  std::stop_source source;
  {
    scheduler sched(options(2));
    sched.submit([] {}, route::any().stop(source.get_token())).get();
    source.request_stop();
  }
  source.request_stop();
}

TEST_P(Route, StopsManyAtOnceWhileTheyStart) {
  scheduler sched(options(2));
  for (int round = 0; round < 50; ++round) {
    std::stop_source source;
    std::vector<future<int>> all;
    for (int k = 0; k < 50; ++k)
      all.push_back(sched.submit([c = counted()] { return 1; }, route::any().stop(source.get_token())));
    source.request_stop();
    for (auto& each : all) {
      try {
        EXPECT_EQ(each.get(), 1);
      } catch (const cancelled&) {
      }
    }
  }
  sched.drain();
}

TEST_P(Route, PastItsDeadlineNeverRuns) {
  scheduler sched(options(2));
  auto f = sched.submit([] { FAIL(); }, route::any().deadline(clock::now() - std::chrono::seconds(1)));
  EXPECT_THROW(f.get(), deadline_exceeded);
}

TEST_P(Route, EndsAtItsDeadlineForWhoWaitsThoughTheDeviceIsBusy) {
  scheduler sched(options(1));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] { FAIL(); }, route::any().deadline(clock::now() + std::chrono::milliseconds(20)));
  EXPECT_THROW(f.get(), deadline_exceeded);
}

TEST_P(Route, WithADeadlineFarAheadRuns) {
  scheduler sched(options(1));
  EXPECT_EQ(sched.submit([] { return 1; }, route::any().deadline(clock::now() + std::chrono::hours(1))).get(),
            1);
  EXPECT_EQ(sched.submit([] { return 1; }, route::any().deadline(clock::time_point::max())).get(), 1);
}

TEST_P(Route, HostOnlyRunsAndEndsWithItsCallable) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([](device_context& c) { return c.id(); }, route::on(1).host_only()).get(), 1);
}

TEST_P(Route, InArenaRunsSeveralAtOnce) {
  auto chosen = options(1);
  chosen.arena_threads = 6;
  scheduler sched(chosen);
  std::latch together(2);
  auto one = sched.submit([&] { together.arrive_and_wait(); }, route::on(0).in_arena());
  auto two = sched.submit([&] { together.arrive_and_wait(); }, route::on(0).in_arena());
  one.get();
  two.get();
}

TEST_P(Route, InArenaRunsWhileTheDeviceThreadIsBusy) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] { return this_device::id(); }, route::on(0).in_arena());
  EXPECT_EQ(f.get(), 0);
}

TEST_P(Route, InArenaRunsNeverMoreThanTheSlotsAllow) {
  auto chosen = options(1);
  chosen.arena_threads = 4;
  scheduler sched(chosen);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 300; ++k) {
    all.push_back(sched.submit(
        [&] {
          const int now = ++inside;
          int before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          std::this_thread::yield();
          --inside;
        },
        route::any().in_arena()));
  }
  for (auto& each : all) each.get();
  EXPECT_LE(most, 2);
}

TEST_P(Route, InArenaHasNeitherStreamNorScratch) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [](device_context& c) {
        EXPECT_THROW((void)c.stream(), invalid_option);
        EXPECT_THROW((void)c.stream(0), invalid_option);
        EXPECT_THROW((void)c.scratch<int>(1), invalid_option);
        EXPECT_THROW(c.enqueue([] {}), invalid_option);
        EXPECT_THROW(c.launch(1, [](std::int64_t) {}), invalid_option);
        EXPECT_THROW(c.sync(), invalid_option);
        EXPECT_THROW((void)c.record(), invalid_option);
        EXPECT_THROW((void)c.native_stream(), invalid_option);
      },
      route::on(0).in_arena());
  f.get();
}

TEST_P(Route, InArenaKeepsObjectsUntilTheEnd) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) { (void)c.keep(counted()); }, route::on(0).in_arena());
  f.get();
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Route, InArenaCarriesExceptions) {
  scheduler sched(options(2));
  EXPECT_THROW(sched.submit([] { throw 4; }, route::any().in_arena()).get(), int);
}

TEST_P(Route, InArenaRefusesAStream) {
  scheduler sched(options(2));
  EXPECT_THROW((void)sched.submit([] {}, route::on(0).in_arena().stream(0)), invalid_option);
}

TEST_P(Route, InArenaRefusesToWaitForAnUnfinishedItemAndNamesThen) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto slow = sched.submit([] {}, route::on(0));
  auto f = sched.submit([&] { slow.wait(); }, route::on(1).in_arena());
  try {
    f.get();
    FAIL();
  } catch (const would_deadlock& e) {
    EXPECT_NE(std::string(e.what()).find("then"), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::test
