// SPDX-License-Identifier: Apache-2.0
// Loops over devices that nvcc compiled, beside the same ones by g++.
#include <cstddef>
#include <numeric>
#include <vector>

#include "loop_programs.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(LoopsByNvcc);

template <class T>
std::vector<T> counted_up(std::size_t n) {
  std::vector<T> all(n);
  std::iota(all.begin(), all.end(), T{1});
  return all;
}

// A real GPU may be the only one.
int most_devices(const driver_mode& mode) { return mode.name == "gpu" ? 1 : 8; }

template <class F>
void for_some_devices(const driver_mode& mode, F f) {
  for (int devices = 1; devices <= most_devices(mode); devices += 7) {
    scheduler sched(options_of(mode, devices));
    f(sched);
  }
}

TEST_P(LoopsByNvcc, MoveHostData) {
  for_some_devices(GetParam(), [](scheduler& sched) {
    const auto from = counted_up<float>(300007);
    for (const auto run : {programs_by_nvcc().add_scaled, &add_scaled_by_lambda}) {
      std::vector<float> to(from.size(), 1);
      run(sched, 2, from, to);
      for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], 1 + 2 * from[i]);
    }
  });
}

TEST_P(LoopsByNvcc, TakeTwoDimensions) {
  for_some_devices(GetParam(), [](scheduler& sched) {
    std::vector<int> v(301 * 97);
    programs_by_nvcc().number_plane(sched, 301, 97, v);
    for (int y = 0; y < 301; ++y) {
      for (int x = 0; x < 97; ++x) ASSERT_EQ(v[static_cast<std::size_t>(97 * y + x)], 1000 * y + x);
    }
  });
}

TEST_P(LoopsByNvcc, ReduceAndScan) {
  for_some_devices(GetParam(), [](scheduler& sched) {
    const auto v = counted_up<double>(100003);
    EXPECT_EQ(programs_by_nvcc().sum(sched, v), 100003. * 100004 / 2);
    std::vector<double> sums(v.size());
    programs_by_nvcc().running_sums(sched, v, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], static_cast<double>((i + 1) * (i + 2) / 2));
  });
}

TEST_P(LoopsByNvcc, ScanArraysWithTheBitsOfHostRanges) {
  auto v = counted_up<double>(100003);
  for (auto& each : v) each = 1 / each;
  for_some_devices(GetParam(), [&](scheduler& sched) {
    std::vector<double> sums(v.size()), sums_of_sums(v.size());
    programs_by_nvcc().running_sums(sched, v, sums);
    programs_by_nvcc().running_sums(sched, sums, sums_of_sums);
    ASSERT_TRUE(programs_by_nvcc().running_sums_on_arrays(sched, v) == sums_of_sums);
  });
}

TEST_P(LoopsByNvcc, FollowOneAnotherOnArrays) {
  const auto start = counted_up<double>(64 * 20);
  std::vector<double> first;
  for_some_devices(GetParam(), [&](scheduler& sched) {
    const auto found = programs_by_nvcc().smooth(sched, 64, 20, 10, start);
    if (first.empty()) first = found;
    EXPECT_EQ(found, first) << "whatever the number of devices";
  });
  EXPECT_NEAR(std::accumulate(first.begin(), first.end(), 0.), 1, 1e-12);
}

TEST_P(LoopsByNvcc, DoNotMixWithThoseOfAnotherCompiler) {
  scheduler sched(options(2));
  const auto from = counted_up<float>(5000);
  std::vector<float> to(from.size(), 1);
  if (on_host()) {
    programs_by_gxx().add_scaled(sched, 2, from, to);
  } else {
    EXPECT_THROW(programs_by_gxx().add_scaled(sched, 2, from, to), no_device_code);
    EXPECT_EQ(to, std::vector<float>(from.size(), 1)) << "untouched";
    programs_by_nvcc().add_scaled(sched, 2, from, to);
  }
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], 1 + 2 * from[i]);
}

TEST_P(LoopsByNvcc, OfDeviceCodeAloneAreRefusedOnHostDevices) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the refusal is theirs");
  scheduler sched(options(2));
  const auto from = counted_up<float>(5000);
  std::vector<float> to(from.size(), 1);
  EXPECT_THROW(add_scaled_by_device_lambda(sched, 2, from, to), invalid_option);
  EXPECT_EQ(to, std::vector<float>(from.size(), 1));
  distributed_array<double> array(sched, 1000);
  array.fill(1);
  EXPECT_THROW(running_sums_by_device_lambda(sched, array), invalid_option);
}

}  // namespace
}  // namespace heddle::test
