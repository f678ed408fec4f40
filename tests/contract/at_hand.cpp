// SPDX-License-Identifier: Apache-2.0
// Devices take several short items at one time. Nobody may notice, but by the clock.
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <vector>

#include "support/contract.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(AtHand);

// So that devices know how short items are here.
void run_short_items(scheduler& s) {
  std::vector<future<void>> all;
  for (int k = 0; k < 2000; ++k) all.push_back(s.submit([] {}));
  for (auto& each : all) each.get();
}

// A device takes one of these first, then two, four, eight, and then sixteen at a time.
void submit_short_items(scheduler& s, int count, std::vector<future<void>>& all) {
  for (int k = 0; k < count; ++k) all.push_back(s.submit([] {}));
}

TEST_P(AtHand, AnItemDoesNotWaitBehindOneThatWaitsForIt) {
  scheduler sched(options(4));
  for (int round = 0; round < 16; ++round) {
    gate entered, leave;
    future<void> waits_for_all;
    std::vector<future<void>> all;
    {
      std::deque<occupied_device> others;
      for (int id = 1; id < 4; ++id) others.emplace_back(sched, id);
      {
        const occupied_device busy(sched, 0);
        submit_short_items(sched, 32 + round, all);
        waits_for_all = sched.submit([&] {
          entered.open();
          leave.wait();
        });
        submit_short_items(sched, 200, all);
      }
      entered.wait();
    }
    for (auto& each : all) each.get();  // the other devices run them all
    leave.open();
    waits_for_all.get();
  }
}

TEST_P(AtHand, NorWhileOtherItemsKeepComing) {
  scheduler sched(options(2));
  for (int round = 0; round < 16; ++round) {
    gate entered, opened;
    const std::function<void()> keep_coming = [&] {
      if (!opened.is_open()) (void)sched.submit(keep_coming);
    };
    std::vector<future<void>> all;
    {
      const occupied_device elsewhere(sched, 1);
      {
        const occupied_device busy(sched, 0);
        submit_short_items(sched, 32 + round, all);
        all.push_back(sched.submit([&] {
          entered.open();
          opened.wait();
        }));
        all.push_back(sched.submit([&] { opened.open(); }));
        submit_short_items(sched, 100, all);
      }
      entered.wait();
      (void)sched.submit(keep_coming);
    }
    for (auto& each : all) each.get();
    sched.drain();
  }
}

TEST_P(AtHand, ItemsOfHigherPriorityGoBeforeThem) {
  scheduler sched(options(1));
  run_short_items(sched);
  std::vector<int> order;  // of one device, so of one thread
  future<void> urgent;
  std::vector<future<void>> all;
  {
    const occupied_device busy(sched, 0);
    for (int k = 0; k < 100; ++k) {
      all.push_back(sched.submit([&, k] {
        order.push_back(k);
        if (k == 40) urgent = sched.submit([&] { order.push_back(-1); }, route::any().priority(1));
      }));
    }
  }
  for (auto& each : all) each.get();
  urgent.get();
  std::vector<int> expected;
  for (int k = 0; k < 100; ++k) {
    expected.push_back(k);
    if (k == 40) expected.push_back(-1);
  }
  EXPECT_EQ(order, expected);
}

TEST_P(AtHand, ItemsAreCancelledAtOnce) {
  scheduler sched(options(1));
  for (int round = 0; round < 16; ++round) {
    gate entered, leave;
    std::vector<future<void>> before, behind;
    future<void> first;
    {
      const occupied_device busy(sched, 0);
      submit_short_items(sched, 32 + round, before);
      first = sched.submit([&] {
        entered.open();
        leave.wait();
      });
      submit_short_items(sched, 40, behind);
    }
    entered.wait();
    sched.cancel();
    for (auto& each : behind) {
      ASSERT_TRUE(each.ready());
      EXPECT_THROW(each.get(), cancelled);
    }
    leave.open();
    first.get();
  }
}

TEST_P(AtHand, ItemsOfADeviceThatIsDisabledGoToOthers) {
  scheduler sched(options(2));
  for (int round = 0; round < 20; ++round) {
    run_short_items(sched);
    gate entered, leave;
    auto first = sched.submit([&] {
      entered.open();
      leave.wait();
      return this_device::id();
    });
    std::vector<future<int>> behind;
    for (int k = 0; k < 40; ++k) behind.push_back(sched.submit([] { return this_device::id(); }));
    entered.wait();
    for (auto& each : behind) each.get();  // the other device has run them all
    leave.open();
    const int id = first.get();
    sched.disable(id);
    for (int k = 0; k < 40; ++k) EXPECT_NE(sched.submit([] { return this_device::id(); }).get(), id);
    sched.enable(id);
  }
}

TEST_P(AtHand, ADeviceThatIsDisabledStartsNoneOfThem) {
  scheduler sched(options(2));
  const occupied_device elsewhere(sched, 1);  // so that nobody takes them from the hand
  for (int round = 0; round < 8; ++round) {
    std::atomic<int> late{0};
    std::vector<future<int>> all;
    {
      const occupied_device busy(sched, 0);
      for (int k = 0; k < 100; ++k) {
        all.push_back(sched.submit([&, k] {
          if (k == 40 + round) sched.disable(0);
          if (k > 40 + round) ++late;
          return this_device::id();
        }));
      }
    }
    for (int k = 0; k <= 40 + round; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), 0);
    sched.submit([] {}, route::on(0)).get();  // what the device had at hand came before
    EXPECT_EQ(late.load(), 0);
    sched.enable(0);
    for (auto& each : all) {
      if (each.valid()) each.get();
    }
  }
}

// What waits looks for the predecessors of its item in the queue, where they are not if they stay at hand.
TEST_P(AtHand, WaitingForOneOfThemRunsWhatComesBeforeItOnItsStream) {
  scheduler sched(options(1));
  for (int round = 0; round < 8; ++round) {
    std::vector<int> order;  // of one device, so of one thread
    std::vector<future<void>> all;
    future<void> last;
    {
      const occupied_device busy(sched, 0);
      for (int k = 0; k < 40 + round; ++k) all.push_back(sched.submit([] {}, route::on(0)));
      all.push_back(sched.submit([&] { last.wait(); }, route::on(0)));
      all.push_back(sched.submit([&] { order.push_back(1); }, route::on(0).stream(1)));
      last = sched.submit([&] { order.push_back(2); }, route::on(0).stream(1));
    }
    for (auto& each : all) each.get();
    last.get();
    EXPECT_EQ(order, (std::vector{1, 2}));
  }
}

// tests/model/parked_devices.pml says why the word has to be passed on.
TEST_P(AtHand, AnItemDoesNotWaitForTheDeviceThatWasWokenForItAndTookAnother) {
  scheduler sched(options(2));
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(eventually([] { return sleeping_device_threads() == 2; }));
    gate opened;
    auto for_anyone = sched.submit([&] { opened.open(); });
    auto first = sched.submit([&] { opened.wait(); }, route::on(round / 2 % 2).priority(1));
    ASSERT_TRUE(for_anyone.wait_for(std::chrono::seconds(20))) << "a hang";
    first.get();
  }
}

}  // namespace
}  // namespace heddle::test
