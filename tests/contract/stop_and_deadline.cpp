// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(StopToken);
HEDDLE_CONTRACT_SUITE(Deadline);

using clock = std::chrono::steady_clock;

TEST_P(StopToken, StoppedBeforeItIsSubmittedNeverRuns) {
  scheduler sched(options(2));
  std::stop_source source;
  source.request_stop();
  death_record record;
  auto f = sched.submit([m = mortal(record)] { FAIL(); }, route::any().stop(source.get_token()));
  EXPECT_THROW(f.get(), cancelled);
  sched.drain();
  EXPECT_EQ(record.deaths, 1);
}

TEST_P(StopToken, StoppedWhileItWaitsEndsAtOnce) {
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

TEST_P(StopToken, StoppedWhileItRunsIsTold) {
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

TEST_P(StopToken, StoppedAfterItsEndHarmsNothing) {
  std::stop_source source;
  {
    scheduler sched(options(2));
    sched.submit([] {}, route::any().stop(source.get_token())).get();
    source.request_stop();
  }
  source.request_stop();
}

TEST_P(StopToken, StopsManyAtOnceWhileTheyStart) {
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

TEST_P(Deadline, PastItsDeadlineNeverRuns) {
  scheduler sched(options(2));
  auto f = sched.submit([] { FAIL(); }, route::any().deadline(clock::now() - std::chrono::seconds(1)));
  EXPECT_THROW(f.get(), deadline_exceeded);
}

TEST_P(Deadline, EndsAtItsDeadlineForWhoWaitsThoughTheDeviceIsBusy) {
  scheduler sched(options(1));
  const occupied_device busy(sched, 0);
  auto f = sched.submit([] { FAIL(); }, route::any().deadline(clock::now() + std::chrono::milliseconds(20)));
  EXPECT_THROW(f.get(), deadline_exceeded);
}

TEST_P(Deadline, WithADeadlineFarAheadRuns) {
  scheduler sched(options(1));
  EXPECT_EQ(sched.submit([] { return 1; }, route::any().deadline(clock::now() + std::chrono::hours(1))).get(),
            1);
  EXPECT_EQ(sched.submit([] { return 1; }, route::any().deadline(clock::time_point::max())).get(), 1);
}

TEST_P(Deadline, OfADroppedItemIsNoErrorThatNobodyTook) {
  error_log log;
  auto asked = options(1);
  asked.on_error = log;
  {
    scheduler sched(std::move(asked));
    (void)sched.submit([] { FAIL(); }, route::any().deadline(clock::now() - std::chrono::seconds(1)));
  }
  EXPECT_EQ(log.size(), 0u);
}

}  // namespace
}  // namespace heddle::test
