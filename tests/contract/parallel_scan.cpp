// SPDX-License-Identifier: Apache-2.0
#include "heddle/parallel_scan.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "support/contract.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ParallelScan);

// Associative, not commutative.
struct affine {
  std::uint32_t factor, term;
};
affine after(affine a, affine b) { return {a.factor * b.factor, a.term * b.factor + b.term}; }

TEST_P(ParallelScan, EqualsASequentialOneForEverySplitAndNumberOfDevices) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const std::int64_t n : {0, 1, 2, 1023, 1025, 50021}) {
      std::vector<std::int64_t> x(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i * 7 % 11) - 3;
      std::vector<std::int64_t> inclusive(x.size()), exclusive(x.size());
      std::inclusive_scan(x.begin(), x.end(), inclusive.begin(), std::plus<>(), std::int64_t{5});
      std::exclusive_scan(x.begin(), x.end(), exclusive.begin(), std::int64_t{5});
      for (const auto& how : all_splits(sched, n)) {
        std::vector<std::int64_t> y(x.size()), z(x.size());
        inclusive_scan(sched, in(x), out(y), std::int64_t{5}, std::plus<>(), how);
        exclusive_scan(sched, in(x), out(z), std::int64_t{5}, std::plus<>(), how);
        ASSERT_EQ(y, inclusive) << n;
        ASSERT_EQ(z, exclusive) << n;
      }
    }
  });
}

TEST_P(ParallelScan, KeepsTheOrderOfItsElements) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    std::vector<affine> x(9001), y(9001);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = {static_cast<std::uint32_t>(2 * i + 1), static_cast<std::uint32_t>(i * i)};
    }
    inclusive_scan(sched, in(x), out(y), affine{1, 0}, after);
    affine all{1, 0};
    for (std::size_t i = 0; i < x.size(); ++i) {
      all = after(all, x[i]);
      ASSERT_EQ(y[i].factor, all.factor);
      ASSERT_EQ(y[i].term, all.term) << i;
    }
  });
}

TEST_P(ParallelScan, GivesTheSameBitsForEverySplitAndNumberOfDevices) {
  std::vector<double> x(30011), first;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1. / static_cast<double>(i + 1);
  for_device_counts(GetParam(), [&](scheduler& sched) {
    for (const auto& how : all_splits(sched, 30011)) {
      std::vector<double> y(x.size());
      inclusive_scan(sched, in(x), out(y), 0., std::plus<>(), how);
      if (first.empty()) first = y;
      ASSERT_EQ(std::memcmp(y.data(), first.data(), y.size() * sizeof(double)), 0);
    }
  });
}

TEST_P(ParallelScan, WorksInPlaceAndIntoOtherTypes) {
  scheduler sched(options(3));
  std::vector<int> v(7001, 1);
  exclusive_scan(sched, in(v), out(v), 0, std::plus<>());
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
  std::vector<std::uint8_t> bytes(5000, 200);
  std::vector<double> sums(5000);
  inclusive_scan(sched, in(bytes), out(sums), std::int64_t{0}, std::plus<>());
  EXPECT_EQ(sums.back(), 1e6);
}

TEST_P(ParallelScan, WorksWithoutBlocking) {
  scheduler sched(options(2));
  std::vector<int> v(40000, 1), w(40000), z(40000);
  {
    auto first = inclusive_scan_async(sched, in(v), out(w), 0, std::plus<>());
    auto second = exclusive_scan_async(sched, in(v), out(z), 0, std::plus<>());
  }
  EXPECT_EQ(w.back(), 40000);
  EXPECT_EQ(z.back(), 39999);
}

TEST_P(ParallelScan, RefusesOtherSizesAndPartialOverlap) {
  scheduler sched(options(2));
  std::vector<int> v(100), w(99);
  EXPECT_THROW(inclusive_scan(sched, in(v), out(w), 0, std::plus<>()), invalid_option);
  EXPECT_THROW((void)inclusive_scan_async(sched, in(v), out(w), 0, std::plus<>()), invalid_option);
  EXPECT_THROW(
      inclusive_scan(sched, in(std::span(v).first(60)), out(std::span(v).last(60)), 0, std::plus<>()),
      invalid_option);
}

TEST_P(ParallelScan, ThatFailsBeforeItWritesHasDoneNothing) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(2));
  const std::int64_t n = 100'000;
  const std::vector<int> x(static_cast<std::size_t>(n), 1);
  std::vector<int> y(x.size());
  std::vector<index_range> left;
  loop_options how;
  how.not_done = &left;
  const std::vector<index_range> all{{0, n}};
  for (const auto& each : {split::measured(), split::even(), split::dynamic(1000)}) {
    how.split = each;
    std::atomic<int> calls{0};
    EXPECT_THROW(inclusive_scan(
                     sched, in(x), out(y), 0,
                     [&](int a, int b) { return ++calls == 5000 ? throw std::string("no") : a + b; }, how),
                 std::string);
    EXPECT_EQ(left, all);
    left.clear();
    // Only the sums of blocks are that large.
    EXPECT_THROW(inclusive_scan(
                     sched, in(x), out(y), 0,
                     [](int a, int b) { return a > 500 ? throw std::string("no") : a + b; }, how),
                 std::string);
    EXPECT_EQ(left, all);
    std::stop_source stop;
    how.stop = stop.get_token();
    calls = 0;
    try {
      inclusive_scan(
          sched, in(x), out(y), 0,
          [&](int a, int b) {
            if (++calls == 5000) stop.request_stop();
            return a + b;
          },
          how);
      ADD_FAILURE() << "nothing thrown";
    } catch (const cancelled& e) {
      EXPECT_NE(std::string(e.what()).find("[0, 100000)"), std::string::npos) << e.what();
    }
    EXPECT_EQ(left, all);
    how.stop = {};
  }
}

}  // namespace
}  // namespace heddle::test
