// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Route);

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

TEST_P(Route, HostOnlyRunsAndEndsWithItsCallable) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([](device_context& c) { return c.id(); }, route::on(1).host_only()).get(), 1);
}

}  // namespace
}  // namespace heddle::test
