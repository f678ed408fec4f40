// SPDX-License-Identifier: Apache-2.0
#include "config/affinity.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace heddle::detail {
namespace {

// A kernel with so many possible CPUs: it refuses smaller masks.
affinity_query kernel_with(std::size_t possible, std::vector<int> allowed) {
  return [possible, allowed = std::move(allowed)](std::size_t bytes, cpu_set_t* mask) {
    if (bytes * 8 < possible) {
      errno = EINVAL;
      return -1;
    }
    for (const int cpu : allowed) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
    return 0;
  };
}

TEST(AllowedCpus, ListsTheSetBitsInOrder) {
  EXPECT_EQ(allowed_cpus(kernel_with(64, {63, 0, 5})), (std::vector<int>{0, 5, 63}));
}

TEST(AllowedCpus, GrowsTheMaskPast1024Cpus) {
  EXPECT_EQ(allowed_cpus(kernel_with(8192, {1, 1024, 8191})), (std::vector<int>{1, 1024, 8191}));
}

TEST(AllowedCpus, IsEmptyWhenNoMaskIsLargeEnough) {
  EXPECT_TRUE(allowed_cpus(kernel_with(std::size_t{1} << 30, {})).empty());
}

TEST(AllowedCpus, IsEmptyWhenTheCallIsForbidden) {
  int calls = 0;
  const auto forbidden = [&](std::size_t, cpu_set_t*) {
    ++calls;
    errno = EPERM;
    return -1;
  };
  EXPECT_TRUE(allowed_cpus(forbidden).empty());
  EXPECT_EQ(calls, 1);
}

TEST(AllowedCpus, FollowsTheAffinityOfTheCallingThread) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::vector<int> inside;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(before.back()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    inside = allowed_cpus();
  }).join();
  EXPECT_EQ(inside, std::vector<int>{before.back()});
}

}  // namespace
}  // namespace heddle::detail
