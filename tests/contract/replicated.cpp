// SPDX-License-Identifier: Apache-2.0
#include "heddle/replicated.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Replicated);

TEST_P(Replicated, HoldsAValue) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    replicated<double> r(sched, 1.5);
    EXPECT_EQ(r.get(), 1.5);
    r.set(-2);
    EXPECT_EQ(r.get(), -2);
  });
}

TEST_P(Replicated, TakesAReductionAndGivesItToLaterLoopsOnEveryDevice) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const std::int64_t n = 2500;
    distributed_array<std::int64_t> a(sched, n), b(sched, n);
    replicated<std::int64_t> sum(sched);
    a.fill(1);
    std::vector<future<void>> steps;
    for (int round = 0; round < 10; ++round) {
      steps.push_back(parallel_reduce_async(
          sched, n, std::int64_t{0}, std::plus<>(),
          [](std::int64_t i, view<const std::int64_t> x) { return x[i]; }, in(a), out(sum)));
      steps.push_back(parallel_for_async(
          sched, n,
          [](std::int64_t i, view<std::int64_t> x, view<const std::int64_t> s) {
            x[i] = (x[i] + s[0] + i) % 97;
          },
          inout(a), in(sum)));
    }
    const auto found = a.gather();
    for (auto& each : steps) each.get();
    std::vector<std::int64_t> expected(static_cast<std::size_t>(n), 1);
    for (int round = 0; round < 10; ++round) {
      std::int64_t total = 0;
      for (const auto x : expected) total += x;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = (expected[i] + total + static_cast<std::int64_t>(i)) % 97;
      }
    }
    EXPECT_EQ(found, expected);
  });
}

TEST_P(Replicated, HasTheSameBitsForEveryNumberOfDevices) {
  double first = 0;
  bool known = false;
  for_device_counts(GetParam(), [&](scheduler& sched) {
    distributed_array<double> a(sched, extents{90, 31});
    std::vector<double> x(90 * 31);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1. / static_cast<double>(i + 1);
    a.scatter(x);
    const auto body = [](std::int64_t row, std::int64_t column, view<const double> v) {
      return v(row, column);
    };
    replicated<double> sum(sched);
    parallel_reduce_async(sched, extents{90, 31}, 0., std::plus<>(), body, in(a), out(sum)).get();
    const double blocking = parallel_reduce(sched, extents{90, 31}, 0., std::plus<>(), body, in(a));
    const double async = parallel_reduce_async(sched, extents{90, 31}, 0., std::plus<>(), body, in(a)).get();
    const double found = sum.get();
    if (!std::exchange(known, true)) first = found;
    EXPECT_EQ(std::memcmp(&found, &first, sizeof first), 0) << found << " and " << first;
    EXPECT_EQ(std::memcmp(&blocking, &first, sizeof first), 0);
    EXPECT_EQ(std::memcmp(&async, &first, sizeof first), 0);
  });
}

TEST_P(Replicated, IsUndefinedByAnErrorInItsReduction) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(1);
  replicated<int> sum(sched, 0);
  auto reduction = parallel_reduce_async(
      sched, 100, 0, std::plus<>(),
      [](std::int64_t i, view<const int> x) { return i == 3 ? throw std::string("no") : x[i]; }, in(a),
      out(sum));
  EXPECT_THROW(reduction.get(), std::string);
  EXPECT_THROW((void)sum.get(), std::string);
  sum.set(4);
  EXPECT_EQ(sum.get(), 4);
}

// Blocks of one element: the sum 100 is met where these are joined.
TEST_P(Replicated, IsUndefinedAtOnceByAnErrorAtTheEndOfItsReduction) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  const error_log log;
  for (int devices = 1; devices <= 9; ++devices) {
    auto asked = options(devices);
    asked.on_error = log;
    scheduler sched(std::move(asked));
    distributed_array<int> a(sched, 100), b(sched, 100);
    a.fill(1);
    b.fill(1);
    replicated<int> sum(sched, 0);
    auto reduction = parallel_reduce_async(
        sched, 100, 0, [](int x, int y) { return x + y == 100 ? throw std::string("no") : x + y; },
        [](std::int64_t i, view<const int> x) { return x[i]; }, in(a), out(sum));
    auto dividing = parallel_for_async(
        sched, 100, [](std::int64_t, view<int>, view<const int>) { ADD_FAILURE(); }, inout(b), in(sum));
    auto reading = parallel_for_async(
        sched, 100, [](std::int64_t, view<int>) { ADD_FAILURE(); }, inout(b));
    EXPECT_THROW(reduction.get(), std::string);
    EXPECT_THROW(dividing.get(), std::string);
    EXPECT_THROW(reading.get(), std::string);
  }
  EXPECT_EQ(log.size(), 0u) << "what a loop throws is not reported too";
}

TEST_P(Replicated, TellsThatItWasMovedFrom) {
  scheduler sched(options(2));
  replicated<int> a(sched, 7);
  const replicated<int> b = std::move(a);
  EXPECT_EQ(b.get(), 7);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_THROW((void)a.get(), invalid_option);
  EXPECT_THROW(a.set(1), invalid_option);
  EXPECT_THROW((void)out(a), invalid_option);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_P(Replicated, NeedsAnArrayBesideIt) {
  scheduler sched(options(2));
  const replicated<int> r(sched, 1);
  EXPECT_THROW(parallel_for(
                   sched, 10, [](std::int64_t, view<const int>) {}, in(r)),
               invalid_option);
}

TEST_P(Replicated, SetAfterAFailureIsNotUndoneByIt) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  auto asked = options(2);
  asked.on_error = [](const error_event&) {};
  scheduler sched(std::move(asked));
  distributed_array<int> a(sched, 100);
  a.fill(1);
  replicated<int> value(sched, 0);
  for (int k = 0; k < 300; ++k) {
    auto lost = parallel_reduce_async(
        sched, 100, 0, [](int x, int y) { return x + y; },
        [](std::int64_t, view<const int>) -> int { throw 7; }, in(a), out(value));
    value.set(k);
    EXPECT_EQ(value.get(), k);
    EXPECT_THROW(lost.get(), int);
    EXPECT_EQ(value.get(), k);
  }
}

TEST_P(Replicated, AndArraysTakeTypesWithoutADefault) {
  struct plain {
    explicit plain(int of) : value(of) {}
    int value;
  };
  scheduler sched(options(2));
  distributed_array<plain> a(sched, 10);
  a.fill(plain(3));
  std::vector<plain> back(10, plain(0));
  a.gather(back);
  EXPECT_EQ(back.back().value, 3);
  const replicated<plain> r(sched, plain(4));
  EXPECT_EQ(r.get().value, 4);
}

}  // namespace
}  // namespace heddle::test
