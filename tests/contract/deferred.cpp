// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Deferred);

TEST_P(Deferred, HasNoResultBeforeTheCallableReturns) {
  scheduler sched(options(1));
  bool at_once = false;
  int value = 0;
  sched
      .submit([&](device_context& c) {
        c.enqueue([&] { value = 1; });
        at_once = value == 1;
      })
      .get();
  EXPECT_EQ(at_once, !deferred());
  EXPECT_EQ(value, 1);
}

TEST_P(Deferred, HasAFutureThatIsNotReadyWhileWorkIsLeft) {
  scheduler sched(options(2));
  gate go;
  gate started;
  auto f = sched.submit(
      [&](device_context& c) {
        c.enqueue([&] {
          started.open();
          go.wait();
        });
        return 1;
      },
      route::on(0));
  started.wait();
  EXPECT_FALSE(f.ready());
  EXPECT_FALSE(f.wait_for(std::chrono::milliseconds(1)));
  EXPECT_FALSE(f.ran_on());
  go.open();
  EXPECT_EQ(f.get(), 1);
}

TEST_P(Deferred, KeepsCapturesAliveForTheStreamWork) {
  scheduler sched(options(2));
  for (int k = 0; k < 50; ++k) {
    int seen = 0;
    sched
        .submit([&seen, values = std::vector<int>(100, 3)](device_context& c) {
          c.enqueue([&seen, &values] { seen = values[99]; });
        })
        .get();
    ASSERT_EQ(seen, 3);
  }
}

TEST_P(Deferred, StartsNoMoreItemsThanTheWindowHolds) {
  auto chosen = options(1);
  chosen.streams_per_device = 1;
  chosen.window_per_stream = 3;
  scheduler sched(chosen);
  std::atomic<int> open{0};
  std::atomic<int> most{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 100; ++k) {
    all.push_back(sched.submit([&](device_context& c) {
      most = std::max<int>(most, ++open);
      c.enqueue([&] { --open; });
    }));
  }
  for (auto& each : all) each.get();
  EXPECT_LE(most, 3);
}

}  // namespace
}  // namespace heddle::test
