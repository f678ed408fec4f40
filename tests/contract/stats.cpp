// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "support/contract.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Stats);

TEST_P(Stats, AddUp) {
  scheduler sched(options(2));
  {
    const occupied_device first(sched, 0);
    const occupied_device second(sched, 1);
    std::vector<future<void>> doomed;
    for (int k = 0; k < 10; ++k) doomed.push_back(sched.submit([] {}, route::on(k % 2)));
    EXPECT_EQ(sched.stats().queued, 10u);
    EXPECT_EQ(sched.stats().pending, 12u);
    EXPECT_EQ(sched.stats().devices[0].queued, 5u);
    EXPECT_EQ(sched.stats().devices[0].in_flight, 1u);
    for (auto& each : doomed) each.cancel();
  }
  for (int k = 0; k < 30; ++k) {
    auto f = sched.submit(
        [k](device_context& c) {
          c.enqueue([] {});
          if (k % 3 == 0) throw k;
        },
        k % 5 == 0 ? route::any().in_arena() : route::any());
    try {
      f.get();
    } catch (...) {
    }
  }
  sched.drain();
  const auto stats = sched.stats();
  std::uint64_t started = 0, ended = 0, failed = 0, dropped = 0;
  for (const auto& each : stats.devices) {
    EXPECT_EQ(each.in_flight, 0u);
    EXPECT_EQ(each.queued, 0u);
    started += each.started;
    ended += each.ended;
    failed += each.failed;
    dropped += each.dropped;
  }
  EXPECT_EQ(started, 32u);
  EXPECT_EQ(ended, 32u);
  EXPECT_EQ(failed, 14u);  // ten of thirty, and four more whose enqueue the arena refused
  EXPECT_EQ(dropped, 10u);
  EXPECT_EQ(stats.queued, 0u);
  EXPECT_EQ(stats.pending, 0u);
}

TEST_P(Stats, OfItemsTakenByWaitersAddUp) {
  scheduler sched(options(2));
  for (int k = 0; k < 200; ++k) {
    (void)sched.submit([&] { sched.submit([] {}, route::on(0)).get(); }, route::on(0));
  }
  sched.drain();
  const auto stats = sched.stats();
  EXPECT_EQ(stats.devices[0].started, 400u);
  EXPECT_EQ(stats.devices[0].ended, 400u);
  EXPECT_EQ(stats.queued, 0u);
  EXPECT_TRUE(eventually([&] { return sched.stats().devices[0].queued == 0; }));
}

TEST_P(Stats, BusyTimeGrowsOnlyWithWork) {
  scheduler sched(options(2));
  {
    const occupied_device busy(sched, 0);
    const auto before = sched.stats().devices[0].busy;
    EXPECT_TRUE(eventually([&] { return sched.stats().devices[0].busy > before; }));
  }
  sched.drain();
}

}  // namespace
}  // namespace heddle::test
