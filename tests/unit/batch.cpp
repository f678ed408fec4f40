// SPDX-License-Identifier: Apache-2.0
#include "pure/batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::detail {
namespace {

using namespace std::chrono_literals;

TEST(Batch, GrowsWhileItemsAreShortUpToItsLimit) {
  std::size_t last = 1;
  for (const std::size_t expected : {2u, 4u, 8u, 16u, 16u}) {
    last = next_batch(last, 50ns * static_cast<long>(last), 16);
    EXPECT_EQ(last, expected);
  }
}

TEST(Batch, IsOneAsSoonAsItemsAreLong) {
  EXPECT_EQ(next_batch(16, 17us, 16), 1u);
  EXPECT_EQ(next_batch(1, 200us, 16), 1u);
  EXPECT_EQ(next_batch(1, 24h, 16), 1u);
  EXPECT_EQ(next_batch(0, 0ns, 16), 2u);
}

TEST(Batch, LeavesSomethingForTheOthers) {
  for (std::size_t devices = 1; devices <= 64; ++devices) {
    for (const std::size_t waiting : {0u, 1u, 2u, 7u, 64u, 1000u}) {
      const std::size_t share = fair_share(waiting, devices);
      EXPECT_GE(share, 1u);
      EXPECT_TRUE(share == 1 || share * devices <= waiting / 2);
    }
  }
  EXPECT_EQ(fair_share(10, 0), 5u);
}

}  // namespace
}  // namespace heddle::detail
