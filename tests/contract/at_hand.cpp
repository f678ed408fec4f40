// SPDX-License-Identifier: Apache-2.0
// Devices take several short items at one time. Nobody may notice, but by the clock.
#include <atomic>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(AtHand);

// So that devices know how short items are here.
void run_short_items(scheduler& s) {
  std::vector<future<void>> all;
  for (int k = 0; k < 2000; ++k) all.push_back(s.submit([] {}));
  for (auto& each : all) each.get();
}

TEST_P(AtHand, AnItemDoesNotWaitBehindOneThatWaitsForIt) {
  scheduler sched(options(2));
  for (int round = 0; round < 50; ++round) {
    run_short_items(sched);
    gate opened;
    std::vector<future<void>> all;
    all.push_back(sched.submit([&] { opened.wait(); }));
    for (int k = 0; k < 20; ++k) all.push_back(sched.submit([] {}));
    all.push_back(sched.submit([&] { opened.open(); }));
    for (auto& each : all) each.get();
  }
}

TEST_P(AtHand, NorWhileOtherItemsKeepComing) {
  scheduler sched(options(2));
  std::atomic<bool> over{false};
  std::jthread crowd([&] {
    while (!over.load()) {
      std::vector<future<void>> all;
      for (int k = 0; k < 64; ++k) all.push_back(sched.submit([] {}));
      all.front().get();
    }
  });
  for (int round = 0; round < 50; ++round) {
    gate opened;
    std::vector<future<void>> all;
    for (int k = 0; k < 8; ++k) all.push_back(sched.submit([] {}));
    all.push_back(sched.submit([&] { opened.wait(); }));
    for (int k = 0; k < 8; ++k) all.push_back(sched.submit([] {}));
    all.push_back(sched.submit([&] { opened.open(); }));
    for (auto& each : all) each.get();
  }
  over.store(true);
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
  for (int round = 0; round < 20; ++round) {
    run_short_items(sched);
    gate entered, leave;
    std::vector<future<void>> behind;
    future<void> first;
    {
      const occupied_device busy(sched, 0);
      first = sched.submit([&] {
        entered.open();
        leave.wait();
      });
      for (int k = 0; k < 40; ++k) behind.push_back(sched.submit([] {}));
    }
    entered.wait();
    sched.cancel();
    for (auto& each : behind) {
      EXPECT_TRUE(each.ready());
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

}  // namespace
}  // namespace heddle::test
