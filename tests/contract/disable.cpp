// SPDX-License-Identifier: Apache-2.0
#include "support/contract.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Disable);

TEST_P(Disable, DisabledDeviceTakesNoItemsOfAnyDevice) {
  scheduler sched(options(2));
  sched.disable(0);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(sched.submit([] { return this_device::id(); }).get(), 1);
  EXPECT_FALSE(sched.stats().devices[0].enabled);
  sched.enable(0);
  EXPECT_TRUE(sched.stats().devices[0].enabled);
  const occupied_device busy(sched, 1);
  EXPECT_EQ(sched.submit([] { return this_device::id(); }).get(), 0);
}

TEST_P(Disable, DisabledDeviceStillRunsWhatNamesIt) {
  scheduler sched(options(2));
  sched.disable(0);
  EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(0)).get(), 0);
  EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(0).in_arena()).get(), 0);
  EXPECT_EQ(as_device(sched, 0, [] { return this_device::id(); }), 0);
}

TEST_P(Disable, DisablingTheLastDeviceOrAnUnknownOneIsRefused) {
  scheduler sched(options(2));
  sched.disable(1);
  sched.disable(1);
  EXPECT_THROW(sched.disable(0), invalid_option);
  EXPECT_THROW(sched.disable(7), invalid_option);
  EXPECT_THROW(sched.enable(7), invalid_option);
  EXPECT_EQ(sched.submit([] { return this_device::id(); }).get(), 0);
}

TEST_P(Disable, DisablingWhileItemsComeLosesNone) {
  scheduler sched(options(2));
  for (int k = 0; k < 3000; ++k) {
    auto f = sched.submit([] {});
    sched.disable(k % 2);
    f.get();
    sched.enable(k % 2);
  }
}

TEST_P(Disable, DisablingWhileArenaItemsComeLosesNone) {
  scheduler sched(options(2));
  for (int k = 0; k < 1000; ++k) {
    auto f = sched.submit([] {}, route::any().in_arena());
    sched.disable(k % 2);
    f.get();
    sched.enable(k % 2);
  }
}

TEST_P(Disable, EnabledAgainTakesWhatHasQueued) {
  scheduler sched(options(2));
  sched.disable(0);
  const occupied_device busy(sched, 1);
  auto f = sched.submit([] { return this_device::id(); });
  sched.enable(0);
  EXPECT_EQ(f.get(), 0);
}

TEST_P(Disable, EnabledAgainIsWokenForWhatComesLater) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 1);
  for (int k = 0; k < 200; ++k) {
    sched.disable(0);
    sched.submit([] {}, route::on(0)).get();
    // It rests, as a disabled one: the time that it is busy stands still.
    const auto busy_time = [&] { return sched.stats().devices[0].busy; };
    ASSERT_TRUE(eventually([&] { return busy_time() == busy_time(); }));
    sched.enable(0);
    EXPECT_EQ(sched.submit([] { return this_device::id(); }).get(), 0);
  }
}

// What arrived while it was disabled goes before what it had sorted before that.
TEST_P(Disable, EnabledAgainItTakesWhatHasPriorityFirst) {
  scheduler sched(options(2));
  std::atomic<int> plain_started{0};
  int started_before = -1;
  std::vector<future<void>> all;
  gate first_runs, end_first, pinned_runs, end_pinned;
  {
    const occupied_device other(sched, 1);
    {
      const occupied_device busy(sched, 0);
      all.push_back(sched.submit([&] {
        first_runs.open();
        end_first.wait();
      }));
      for (int k = 0; k < 60; ++k) {
        all.push_back(sched.submit([&] { plain_started.fetch_add(1); }));
      }
    }
    first_runs.wait();
    sched.disable(0);
    all.push_back(sched.submit(
        [&] {
          pinned_runs.open();
          end_pinned.wait();
        },
        route::on(0)));
    all.push_back(sched.submit([&] { started_before = plain_started.load(); }, route::any().priority(5)));
    end_first.open();
    pinned_runs.wait();
    sched.enable(0);
    end_pinned.open();
    all.back().wait();
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(started_before, 0);
}

}  // namespace
}  // namespace heddle::test
