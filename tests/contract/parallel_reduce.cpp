// SPDX-License-Identifier: Apache-2.0
#include "heddle/parallel_reduce.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ParallelReduce);

std::vector<double> terms(std::int64_t n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = (i % 3 == 0 ? -1. : 1.) / static_cast<double>(i + 1);
  return all;
}

TEST_P(ParallelReduce, AddsEveryIndexOnceForEverySplitAndNumberOfDevices) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const std::int64_t n : {0, 1, 2, 1023, 1024, 1025, 100003}) {
      for (const auto& how : all_splits(sched, n)) {
        const auto body = [](std::int64_t i) { return i + 1; };
        ASSERT_EQ(parallel_reduce(sched, n, how, std::int64_t{0}, std::plus<>(), body), n * (n + 1) / 2) << n;
        ASSERT_EQ(parallel_reduce_async(sched, n, how, std::int64_t{0}, std::plus<>(), body).get(),
                  n * (n + 1) / 2);
      }
    }
  });
}

// Source: mumax/3#415: the same input, slightly different sums.
TEST_P(ParallelReduce, GivesTheSameBitsForEverySplitAndNumberOfDevices) {
  for (const std::int64_t n : {5, 3000, 70001}) {
    const auto x = terms(n);
    const auto body = [](std::int64_t i, view<const double> v) { return v[i]; };
    double first = 0;
    bool known = false;
    for_device_counts(GetParam(), [&](scheduler& sched) {
      for (const auto& how : all_splits(sched, n)) {
        for (int round = 0; round < 3; ++round) {
          const double sum = parallel_reduce(sched, n, how, 0., std::plus<>(), body, in(x));
          if (!std::exchange(known, true)) first = sum;
          ASSERT_EQ(std::memcmp(&sum, &first, sizeof sum), 0) << sum << " and " << first;
        }
      }
    });
  }
}

TEST_P(ParallelReduce, TakesTwoAndThreeDimensions) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const auto sum = parallel_reduce(
        sched, extents{17, 23, 29}, std::int64_t{0}, std::plus<>(),
        [](std::int64_t z, std::int64_t y, std::int64_t x) { return z * 10000 + y * 100 + x; });
    EXPECT_EQ(sum, std::int64_t{17} * 23 * 29 * (8 * 10000 + 11 * 100 + 14));
    const std::vector<int> ones(31 * 37, 1);
    EXPECT_EQ(parallel_reduce(
                  sched, extents{31, 37}, 0, std::plus<>(),
                  [](std::int64_t y, std::int64_t x, view<const int> o) { return o(y, x); }, in(ones)),
              31 * 37);
  });
}

struct extremes {
  double least, greatest;
};

TEST_P(ParallelReduce, JoinsValuesOfAnyPlainType) {
  scheduler sched(options(3));
  const auto x = terms(5000);
  const auto found = parallel_reduce(
      sched, x.size(), extremes{1e300, -1e300},
      [](const extremes& a, const extremes& b) {
        return extremes{b.least < a.least ? b.least : a.least,
                        b.greatest > a.greatest ? b.greatest : a.greatest};
      },
      [](std::int64_t i, view<const double> v) {
        return extremes{v[i], v[i]};
      },
      in(x));
  EXPECT_EQ(found.least, -1.);
  EXPECT_EQ(found.greatest, 0.5);
  EXPECT_TRUE(
      parallel_reduce(sched, 100, true, std::logical_and<>(), [](std::int64_t i) { return i < 100; }));
}

TEST_P(ParallelReduce, JoinsStringsOnHostDevicesAndRefusesThemElsewhere) {
  scheduler sched(options(2));
  const auto concatenate = [&] {
    return parallel_reduce(sched, 10, std::string(), std::plus<>(),
                           [](std::int64_t i) { return std::to_string(i); });
  };
  if (on_host()) {
    EXPECT_EQ(concatenate(), "0123456789");
  } else {
    EXPECT_THROW(concatenate(), invalid_option);
  }
}

TEST_P(ParallelReduce, ThrowsWhatItsBodyThrows) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(2));
  const auto body = [](std::int64_t i) { return i == 4321 ? throw std::string("here") : i; };
  EXPECT_THROW((void)parallel_reduce(sched, 10000, std::int64_t{0}, std::plus<>(), body), std::string);
  EXPECT_THROW((void)parallel_reduce_async(sched, 10000, std::int64_t{0}, std::plus<>(), body).get(),
               std::string);
}

}  // namespace
}  // namespace heddle::test
