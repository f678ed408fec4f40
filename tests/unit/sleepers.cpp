// SPDX-License-Identifier: Apache-2.0
#include "device/sleepers.hpp"

#include <gtest/gtest.h>

#include <set>

namespace heddle::detail {
namespace {

constexpr int many = 1000;

TEST(Sleepers, AreCalledInTurnsAndOnce) {
  sleepers resting(5);
  for (const std::size_t device : {0, 2, 4}) resting.lie_down(device);
  EXPECT_EQ(resting.count(), 3u);
  EXPECT_EQ(resting.call(many), 0u);
  EXPECT_EQ(resting.call(many), 2u);
  resting.lie_down(0);
  EXPECT_EQ(resting.call(many), 4u);
  EXPECT_EQ(resting.call(many), 0u);
  EXPECT_FALSE(resting.call(many));
  EXPECT_FALSE(resting.any());
}

TEST(Sleepers, GetUpByThemselvesWhereNobodyHasCalled) {
  sleepers resting(2);
  resting.lie_down(0);
  resting.lie_down(1);
  EXPECT_EQ(resting.call(many), 0u);
  EXPECT_FALSE(resting.get_up(1));
  EXPECT_TRUE(resting.get_up(0));
  EXPECT_FALSE(resting.call(many));
}

TEST(Sleepers, AreLeftAloneWhileEnoughAreOnTheirWay) {
  sleepers resting(3);
  for (std::size_t device = 0; device < 3; ++device) resting.lie_down(device);
  EXPECT_TRUE(resting.call(2));
  EXPECT_TRUE(resting.call(2));
  EXPECT_FALSE(resting.call(2));
  EXPECT_TRUE(resting.any());
  EXPECT_TRUE(resting.get_up(1));
  EXPECT_EQ(resting.call(2), 2u);
}

TEST(Sleepers, AreAsManyAsThereAreDevices) {
  for (const std::size_t devices : {63, 64, 65, 200}) {
    sleepers resting(devices);
    for (std::size_t device = 0; device < devices; ++device) resting.lie_down(device);
    std::set<std::size_t> called;
    while (const auto each = resting.call(many)) called.insert(*each);
    EXPECT_EQ(called.size(), devices);
    for (std::size_t device = 0; device < devices; ++device) EXPECT_TRUE(resting.get_up(device));
    EXPECT_FALSE(resting.any());
  }
}

}  // namespace
}  // namespace heddle::detail
