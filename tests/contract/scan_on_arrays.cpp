// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "heddle/distributed_array.hpp"
#include "heddle/parallel_scan.hpp"
#include "support/contract.hpp"
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

}  // namespace
}  // namespace heddle::test
