// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
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

HEDDLE_CONTRACT_SUITE(ScanOnArrays);

std::vector<double> terms(std::int64_t n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = (i % 3 == 0 ? -1. : 1.) / static_cast<double>(i + 1);
  return all;
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_P(ScanOnArrays, HasTheBitsOfAHostRangeForEveryNumberOfDevices) {
  for (const std::int64_t n : {1, 2, 1023, 1025, 50021}) {
    const auto x = terms(n);
    std::vector<double> inclusive, exclusive;
    for_device_counts(GetParam(), [&](scheduler& sched) {
      std::vector<double> y(x.size()), z(x.size());
      inclusive_scan(sched, in(x), out(y), 0.25, std::plus<>());
      exclusive_scan(sched, in(x), out(z), 0.25, std::plus<>());
      distributed_array<double> a(sched, n), b(sched, n), c(sched, n);
      a.scatter(x);
      inclusive_scan(sched, in(a), out(b), 0.25, std::plus<>());
      exclusive_scan(sched, in(a), out(c), 0.25, std::plus<>());
      if (inclusive.empty()) inclusive = b.gather(), exclusive = c.gather();
      ASSERT_TRUE(same_bits(inclusive, y)) << n;
      ASSERT_TRUE(same_bits(exclusive, z)) << n;
      ASSERT_TRUE(same_bits(inclusive, b.gather())) << n;
      ASSERT_TRUE(same_bits(exclusive, c.gather())) << n;
      ASSERT_EQ(a.gather(), x) << "as it was";
    });
  }
}

TEST_P(ScanOnArrays, EqualsASequentialOneHoweverTheArrayIsDivided) {
  scheduler sched(options(4));
  const std::int64_t n = 5003;
  std::vector<std::int64_t> x(static_cast<std::size_t>(n)), inclusive(x.size()), exclusive(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i * 7 % 11) - 3;
  std::inclusive_scan(x.begin(), x.end(), inclusive.begin(), std::plus<>(), std::int64_t{5});
  std::exclusive_scan(x.begin(), x.end(), exclusive.begin(), std::int64_t{5});
  for (const std::vector<double>& weights :
       std::vector<std::vector<double>>{{1, 0, 4, 2}, {0, 0, 0, 1}, {1, 0, 0, 0}, {1e-9, 1, 1e-9, 1}}) {
    distributed_array<std::int64_t> a(sched, n, {.weights = weights}), b(sched, n, {.weights = weights});
    a.scatter(x);
    inclusive_scan(sched, in(a), out(b), std::int64_t{5}, std::plus<>());
    EXPECT_EQ(b.gather(), inclusive);
    exclusive_scan_async(sched, in(a), out(b), std::int64_t{5}, std::plus<>()).get();
    EXPECT_EQ(b.gather(), exclusive);
  }
}

// Associative, not commutative.
struct affine {
  std::uint32_t factor, term;
};
affine after(affine a, affine b) { return {a.factor * b.factor, a.term * b.factor + b.term}; }

TEST_P(ScanOnArrays, KeepsTheOrderOfItsElements) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    std::vector<affine> x(9001);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = {static_cast<std::uint32_t>(2 * i + 1), static_cast<std::uint32_t>(i * i)};
    }
    distributed_array<affine> a(sched, x.size());
    a.scatter(x);
    inclusive_scan(sched, in(a), out(a), affine{1, 7}, after);
    const auto y = a.gather();
    affine all{1, 7};
    for (std::size_t i = 0; i < x.size(); ++i) {
      all = after(all, x[i]);
      ASSERT_EQ(y[i].factor, all.factor) << i;
      ASSERT_EQ(y[i].term, all.term) << i;
    }
  });
}

TEST_P(ScanOnArrays, WorksInPlaceAndIntoOtherTypes) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    distributed_array<int> v(sched, 7001);
    v.fill(1);
    exclusive_scan(sched, in(v), out(v), 0, std::plus<>());
    std::vector<int> expected(7001);
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(v.gather(), expected);
    distributed_array<std::uint8_t> bytes(sched, 5000);
    distributed_array<double> sums(sched, 5000);
    bytes.fill(200);
    inclusive_scan(sched, in(bytes), out(sums), std::int64_t{0}, std::plus<>());
    ASSERT_EQ(sums.gather().back(), 1e6);
  });
}

TEST_P(ScanOnArrays, GoesThroughRowsAsTheyLie) {
  const auto x = terms(90 * 31);
  std::vector<std::int64_t> squares(x.size()), expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) squares[i] = static_cast<std::int64_t>(i * i % 101);
  std::inclusive_scan(squares.begin(), squares.end(), expected.begin());
  std::vector<double> first;
  for_device_counts(GetParam(), [&](scheduler& sched) {
    distributed_array<double> a(sched, extents{90, 31}, {.halo = 2}), b(sched, extents{90, 31});
    a.scatter(x);
    inclusive_scan(sched, in(a), out(b), 0., std::plus<>());
    if (first.empty()) first = b.gather();
    ASSERT_TRUE(same_bits(b.gather(), first)) << "whatever the number of devices";
    distributed_array<std::int64_t> c(sched, extents{90, 31}, {.halo = 1});
    c.scatter(squares);
    inclusive_scan(sched, in(c), out(c), std::int64_t{0}, std::plus<>());
    ASSERT_EQ(c.gather(), expected);
  });
}

TEST_P(ScanOnArrays, TakesAnArrayAndAHostRangeTogether) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const auto x = terms(3001);
    std::vector<double> expected(x.size()), y(x.size());
    inclusive_scan(sched, in(x), out(expected), 0., std::plus<>());
    distributed_array<double> a(sched, 3001);
    inclusive_scan(sched, in(x), out(a), 0., std::plus<>());
    ASSERT_TRUE(same_bits(a.gather(), expected));
    a.scatter(x);
    inclusive_scan_async(sched, in(a), out(y), 0., std::plus<>()).get();
    ASSERT_TRUE(same_bits(y, expected));
  });
}

TEST_P(ScanOnArrays, TakesItsTurnAmongOtherLoopsOnTheArrays) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const std::int64_t n = 3001;
    distributed_array<std::int64_t> a(sched, n), b(sched, n, {.halo = 1});
    a.fill(1);
    std::vector<future<void>> loops;
    std::vector<future<void>> scans;
    for (int round = 0; round < 10; ++round) {
      scans.push_back(inclusive_scan_async(sched, in(a), out(b), std::int64_t{1}, std::plus<>()));
      loops.push_back(parallel_for_async(
          sched, n,
          [](std::int64_t i, view<const std::int64_t> from, view<std::int64_t> to) {
            to[i] = (from[i] + (i > 0 ? from[i - 1] : 0)) % 1009;
          },
          with_halo(b), out(a)));
      scans.push_back(exclusive_scan_async(sched, in(a), out(a), std::int64_t{2}, std::plus<>()));
      loops.push_back(parallel_for_async(
          sched, n, [](std::int64_t i, view<std::int64_t> v) { v[i] = v[i] % 97 + i % 3; }, inout(a)));
    }
    const auto found = a.gather();
    for (auto& each : loops) each.get();
    for (auto& each : scans) each.get();
    std::vector<std::int64_t> x(static_cast<std::size_t>(n), 1), y(x.size());
    for (int round = 0; round < 10; ++round) {
      std::inclusive_scan(x.begin(), x.end(), y.begin(), std::plus<>(), std::int64_t{1});
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = (y[i] + (i > 0 ? y[i - 1] : 0)) % 1009;
      std::exclusive_scan(x.begin(), x.end(), x.begin(), std::int64_t{2});
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] % 97 + static_cast<std::int64_t>(i % 3);
    }
    ASSERT_EQ(found, x);
  });
}

TEST_P(ScanOnArrays, DoesNotBlockTheCallerWhoIssuesTheNextLoop) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 4000);
  a.fill(1);
  occupied_device busy(sched, 1);
  auto scan = inclusive_scan_async(sched, in(a), out(a), 0, std::plus<>());
  auto next = parallel_for_async(
      sched, 4000, [](std::int64_t i, view<int> v) { v[i] -= static_cast<int>(i); }, inout(a));
  EXPECT_FALSE(scan.ready());
  EXPECT_FALSE(next.ready());
  busy.release();
  EXPECT_EQ(a.gather(), std::vector<int>(4000, 1));
  scan.get();
  next.get();
}

TEST_P(ScanOnArrays, MayBeWaitedForInsideItems) {
  scheduler sched(options(3));
  distributed_array<int> a(sched, 2000);
  a.fill(1);
  sched.submit([&] { inclusive_scan(sched, in(a), out(a), 0, std::plus<>()); }).get();
  EXPECT_EQ(a.gather().back(), 2000);
}

TEST_P(ScanOnArrays, DoesNothingWithoutElements) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 0), b(sched, extents{0, 7});
  const auto never = [](int, int) {
    ADD_FAILURE();
    return 0;
  };
  inclusive_scan(sched, in(a), out(a), 1, never);
  exclusive_scan_async(sched, in(a), out(b), 1, never).get();
}

TEST_P(ScanOnArrays, RefusesWhatDoesNotFitBeforeAnythingRuns) {
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

TEST_P(ScanOnArrays, ThrowsWhatLeftItsInputUndefined) {
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
TEST_P(ScanOnArrays, IsUndefinedByAJoinThatThrowsInAnyOfItsSteps) {
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

TEST_P(ScanOnArrays, ThrowsWhatItsJoinOfElementsThrows) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(3));
  distributed_array<int> a(sched, 3000);
  a.fill(1);
  const auto throwing = [](int x, int y) { return x + y == 3 ? throw std::string("three") : x + y; };
  EXPECT_THROW(inclusive_scan(sched, in(a), out(a), 0, throwing), std::string);
  EXPECT_THROW((void)a.gather(), std::string) << "in place";
}

TEST_P(ScanOnArrays, IsUndefinedByItsToken) {
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

TEST_P(ScanOnArrays, IsUndefinedByCancel) {
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
TEST_P(ScanOnArrays, IsUndefinedWhereMemoryRunsOut) {
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

TEST_P(ScanOnArrays, IsRefusedOnAnArenaThread) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(1);
  auto item =
      sched.submit([&] { inclusive_scan(sched, in(a), out(a), 0, std::plus<>()); }, route::on(0).in_arena());
  EXPECT_THROW(item.get(), would_deadlock);
  EXPECT_EQ(a.gather(), std::vector<int>(100, 1));
}

// Not even the first step, which reads the caller's range.
TEST_P(ScanOnArrays, LeavesNoStepRunningWhereALaterOneIsRefused) {
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

TEST_P(ScanOnArrays, OfNothingLeavesNothingUndone) {
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
