// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Enqueue);

TEST_P(Enqueue, RunsInTheOrderOfTheCallsOnTheDeviceThread) {
  scheduler sched(options(2));
  std::vector<int> order;
  const auto device_thread = sched.submit([] { return std::this_thread::get_id(); }, route::on(0)).get();
  sched
      .submit(
          [&](device_context& c) {
            for (int k = 0; k < 100; ++k) {
              c.enqueue([&, k] {
                EXPECT_EQ(std::this_thread::get_id(), device_thread);
                EXPECT_EQ(this_device::id(), 0);
                order.push_back(k);
              });
            }
          },
          route::on(0))
      .get();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Enqueue, TakesMoveOnlyFunctions) {
  scheduler sched(options(2));
  int seen = 0;
  sched.submit([&](device_context& c) { c.enqueue([&seen, p = std::make_unique<int>(3)] { seen = *p; }); })
      .get();
  EXPECT_EQ(seen, 3);
}

TEST_P(Enqueue, IsDoneWhenTheFutureIsReady) {
  scheduler sched(options(2));
  for (int round = 0; round < 100; ++round) {
    int value = 0;
    auto f = sched.submit([&value](device_context& c) {
      for (int k = 0; k < 10; ++k) c.enqueue([&value] { ++value; });
    });
    f.wait();
    ASSERT_EQ(value, 10);
  }
}

TEST_P(Enqueue, ThatThrowsFailsItsOwnItemOnly) {
  scheduler sched(options(1));
  std::vector<future<void>> all;
  for (int k = 0; k < 50; ++k) {
    all.push_back(sched.submit(
        [k](device_context& c) {
          c.enqueue([k] {
            if (k % 5 == 0) throw k;
          });
        },
        route::on(0).stream(k % 2)));
  }
  for (int k = 0; k < 50; ++k) {
    if (k % 5 != 0) {
      EXPECT_NO_THROW(all[static_cast<std::size_t>(k)].get()) << k;
      continue;
    }
    try {
      all[static_cast<std::size_t>(k)].get();
      ADD_FAILURE() << k;
    } catch (int value) {
      EXPECT_EQ(value, k);
    }
  }
}

TEST_P(Enqueue, LeavesOutTheRestOfAnItemThatFailed) {
  scheduler sched(options(1));
  std::atomic<int> later{0};
  auto f = sched.submit([&](device_context& c) {
    c.enqueue([] { throw 1; });
    c.enqueue([&] { ++later; });
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_EQ(later, 0);
}

TEST_P(Enqueue, DestroysWhatItNeverRan) {
  scheduler sched(options(1));
  auto f = sched.submit([](device_context& c) {
    c.enqueue([] { throw 1; });
    c.enqueue([held = counted()] { (void)held; });
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Enqueue, OfACallableThatThrowsStillRunsBeforeItsCapturesDie) {
  scheduler sched(options(1));
  bool alive = false;
  auto f = sched.submit([&alive, value = std::make_shared<int>(7)](device_context& c) {
    c.enqueue([&alive, weak = std::weak_ptr<int>(value)] { alive = !weak.expired(); });
    throw 1;
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_TRUE(alive);
}

}  // namespace
}  // namespace heddle::test
