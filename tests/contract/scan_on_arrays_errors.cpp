// SPDX-License-Identifier: Apache-2.0
// What scans over arrays refuse, and what they leave behind when they fail.
#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "heddle/distributed_array.hpp"
#include "heddle/parallel_scan.hpp"
#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ScanOnArraysErrors);

TEST_P(ScanOnArraysErrors, RefusesWhatDoesNotFitBeforeAnythingRuns) {
  scheduler sched(options(2)), other(options(2));
  distributed_array<int> a(sched, 100), b(sched, 100), shorter(sched, 99), elsewhere(other, 100);
  distributed_array<int> uneven(sched, 100, {.weights = {1, 3}});
  std::vector<int> too_few(99);
  b.fill(7);
  const auto never = [](int, int) {
    ADD_FAILURE();
    return 0;
  };
  EXPECT_THROW(inclusive_scan(sched, in(shorter), out(b), 0, never), invalid_option);
  EXPECT_THROW(exclusive_scan(sched, in(a), out(uneven), 0, never), invalid_option);
  EXPECT_THROW((void)inclusive_scan_async(sched, in(elsewhere), out(b), 0, never), invalid_option);
  EXPECT_THROW((void)exclusive_scan_async(sched, in(a), out(elsewhere), 0, never), invalid_option);
  EXPECT_THROW(inclusive_scan(sched, in(a), out(too_few), 0, never), invalid_option);
  EXPECT_THROW((void)inclusive_scan_async(sched, in(too_few), out(b), 0, never), invalid_option);
  EXPECT_EQ(b.gather(), std::vector<int>(100, 7));
  try {
    inclusive_scan(sched, in(a), out(uneven), 0, never);
  } catch (const invalid_option& e) {
    EXPECT_NE(std::string(e.what()).find("inclusive_scan"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("same weights"), std::string::npos) << e.what();
  }
}

TEST_P(ScanOnArraysErrors, ThrowsWhatLeftItsInputUndefined) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  for_device_counts(GetParam(), [](scheduler& sched) {
    distributed_array<int> a(sched, 5000), b(sched, 5000);
    a.fill(1);
    b.fill(1);
    auto failing = parallel_for_async(
        sched, 5000, [](std::int64_t i, view<int> v) { v[i] = i == 4000 ? throw std::string("first") : 1; },
        inout(a));
    auto scan = exclusive_scan_async(sched, in(a), out(b), 0, std::plus<>());
    EXPECT_THROW(failing.get(), std::string);
    EXPECT_THROW(scan.get(), std::string);
    EXPECT_THROW((void)b.gather(), std::string) << "what was written from it";
    const auto never = [](int, int) {
      ADD_FAILURE() << "joins what is undefined";
      return 0;
    };
    EXPECT_THROW(inclusive_scan(sched, in(a), out(a), 0, never), std::string);
    a.fill(2);
    b.fill(2);
    inclusive_scan(sched, in(a), out(b), 0, std::plus<>());
    EXPECT_EQ(b.gather().back(), 10000) << "defined again";
  });
}

// Blocks of 4 elements, all of them 1: the sum 1500 is met where blocks are joined, 1502 inside one only.
TEST_P(ScanOnArraysErrors, IsUndefinedByAJoinThatThrowsInAnyOfItsSteps) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  const error_log log;
  for (int devices = 1; devices <= 9; ++devices) {
    auto asked = options(devices);
    asked.on_error = log;
    scheduler sched(std::move(asked));
    for (const int limit : {1500, 1502}) {
      distributed_array<int> a(sched, 3000), b(sched, 3000);
      a.fill(1);
      b.fill(1);
      auto scan = inclusive_scan_async(sched, in(a), out(b), 0, [limit](int x, int y) {
        return x + y == limit ? throw std::string("too much") : x + y;
      });
      std::atomic<int> runs{0};
      auto reading = parallel_for_async(
          sched, 3000, [&runs](std::int64_t, view<int>) { ++runs; }, inout(b));
      EXPECT_THROW(scan.get(), std::string);
      EXPECT_THROW(reading.get(), std::string);
      EXPECT_LT(runs, limit == 1500 ? 1 : 3000) << "only on devices that have written their block";
      EXPECT_THROW((void)b.gather(), std::string);
      EXPECT_EQ(a.gather(), std::vector<int>(3000, 1)) << "only read";
      b.fill(3);
      EXPECT_EQ(b.gather(), std::vector<int>(3000, 3));
    }
  }
  EXPECT_EQ(log.size(), 0u) << "what a loop throws is not reported too";
}

TEST_P(ScanOnArraysErrors, ThrowsWhatItsJoinOfElementsThrows) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(3));
  distributed_array<int> a(sched, 3000);
  a.fill(1);
  const auto throwing = [](int x, int y) { return x + y == 3 ? throw std::string("three") : x + y; };
  EXPECT_THROW(inclusive_scan(sched, in(a), out(a), 0, throwing), std::string);
  EXPECT_THROW((void)a.gather(), std::string) << "in place";
}

TEST_P(ScanOnArraysErrors, IsUndefinedByItsToken) {
  scheduler sched(options(3));
  distributed_array<int> a(sched, 1000), b(sched, 1000);
  a.fill(7);
  b.fill(7);
  std::stop_source source;
  source.request_stop();
  std::vector<index_range> left;
  loop_options how;
  how.stop = source.get_token();
  how.not_done = &left;
  EXPECT_THROW(inclusive_scan(sched, in(a), out(b), 0, std::plus<>(), how), cancelled);
  EXPECT_EQ(left, (std::vector<index_range>{{0, 1000}}));
  EXPECT_THROW((void)b.gather(), cancelled);
  EXPECT_EQ(a.gather(), std::vector<int>(1000, 7));
}

TEST_P(ScanOnArraysErrors, IsUndefinedByCancel) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 1000), b(sched, 1000);
  a.fill(1);
  b.fill(1);
  {
    occupied_device busy(sched, 0);
    auto scan = inclusive_scan_async(sched, in(a), out(b), 0, std::plus<>());
    sched.cancel();
    busy.release();
    EXPECT_THROW(scan.get(), cancelled);
  }
  EXPECT_THROW((void)b.gather(), cancelled);
  b.fill(2);
  EXPECT_EQ(b.gather(), std::vector<int>(1000, 2));
  inclusive_scan(sched, in(a), out(b), 0, std::plus<>());
  EXPECT_EQ(b.gather().back(), 1000);
}

// Each of its steps takes some memory, on devices that are not the host.
TEST_P(ScanOnArraysErrors, IsUndefinedWhereMemoryRunsOut) {
  constexpr std::int64_t n = 30000;
  constexpr std::size_t block_bytes = n / 2 * sizeof(double) + 4096;
  int failures = 0;
  for (std::size_t bytes = block_bytes;; bytes += 3000) {
    auto asked = options(2);
    limit_memory(GetParam(), asked, bytes);
    scheduler sched(std::move(asked));
    distributed_array<double> a(sched, n);
    a.fill(1);
    auto scan = inclusive_scan_async(sched, in(a), out(a), 0., std::plus<>());
    auto reading = parallel_for_async(
        sched, n, [](std::int64_t i, view<double> v) { v[i] += 1; }, inout(a));
    try {
      scan.get();
    } catch (const out_of_device_memory&) {
      ++failures;
      EXPECT_THROW(reading.get(), out_of_device_memory);
      EXPECT_THROW((void)a.gather(), out_of_device_memory);
      continue;
    }
    reading.get();
    EXPECT_EQ(a.gather().back(), n + 1);
    break;
  }
  EXPECT_EQ(failures > 2, !on_host()) << failures;
}

TEST_P(ScanOnArraysErrors, IsRefusedOnAnArenaThread) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(1);
  auto item =
      sched.submit([&] { inclusive_scan(sched, in(a), out(a), 0, std::plus<>()); }, route::on(0).in_arena());
  EXPECT_THROW(item.get(), would_deadlock);
  EXPECT_EQ(a.gather(), std::vector<int>(100, 1));
}

// Not even the first step, which reads the caller's range.
TEST_P(ScanOnArraysErrors, LeavesNoStepRunningWhereALaterOneIsRefused) {
  auto little_room = options(2);
  little_room.queue_capacity = 3;
  scheduler sched(little_room);
  constexpr std::int64_t n = 3000;
  distributed_array<int> to(sched, n);
  std::atomic<int> calls{0};
  for (int round = 0; round < 20; ++round) {
    int calls_then = -1;
    sched
        .submit(
            [&] {
              const std::vector<int> from(n, 1);
              EXPECT_THROW(inclusive_scan(sched, in(from), out(to), 0,
                                          [&calls](int x, int y) {
                                            calls.fetch_add(1);
                                            return x + y;
                                          }),
                           queue_full);
              calls_then = calls.load();
            },
            route::on(0))
        .get();
    sched.drain();
    ASSERT_EQ(calls.load(), calls_then);
  }
}

TEST_P(ScanOnArraysErrors, OfNothingLeavesNothingUndone) {
  scheduler sched(options(2));
  distributed_array<int> none(sched, 0);
  std::vector<index_range> not_done{{1, 2}};
  loop_options how;
  how.not_done = &not_done;
  inclusive_scan(sched, in(none), out(none), 0, std::plus<>(), how);
  EXPECT_TRUE(not_done.empty());
}

}  // namespace
}  // namespace heddle::test
