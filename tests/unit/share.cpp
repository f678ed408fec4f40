// SPDX-License-Identifier: Apache-2.0
#include "loops/share.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

TEST(Share, IsTakenFromTheFrontAndFromTheBack) {
  share s;
  EXPECT_FALSE(s.take_first());
  EXPECT_FALSE(s.take_last());
  s.fill({3, 7});
  EXPECT_EQ(s.take_first(), 3u);
  EXPECT_EQ(s.take_last(), 6u);
  EXPECT_EQ(s.take_last(), 5u);
  EXPECT_EQ(s.take_first(), 4u);
  EXPECT_FALSE(s.take_first());
  EXPECT_FALSE(s.take_last());
}

TEST(Share, LosesAllFromAGrainOnAtOnce) {
  share s;
  s.fill({3, 9});
  const auto back = s.take_from(7);
  EXPECT_EQ(back.first, 7u);
  EXPECT_EQ(back.last, 9u);
  const auto none = s.take_from(7);
  EXPECT_EQ(none.first, none.last);
  EXPECT_EQ(s.take_last(), 6u);
  const auto all = s.take_from(0);
  EXPECT_EQ(all.first, 3u);
  EXPECT_EQ(all.last, 6u);
  EXPECT_FALSE(s.take_first());
}

TEST(Share, GivesEachGrainOnceToThreadsThatRace) {
  constexpr std::uint32_t grains = 1'000'000;
  for (int round = 0; round < 2; ++round) {
    share s;
    s.fill({0, grains});
    std::vector<std::atomic<int>> taken(grains);
    std::atomic<int> begun{0};
    {
      std::vector<std::jthread> threads;
      for (const bool owner : {true, true, false, false}) {
        threads.emplace_back([&, owner] {
          ++begun;
          while (begun < 4) std::this_thread::yield();
          while (const auto grain = owner ? s.take_first() : s.take_last()) ++taken[*grain];
        });
      }
    }
    for (std::uint32_t k = 0; k < grains; ++k) ASSERT_EQ(taken[k], 1) << "grain " << k;
  }
}

}  // namespace
}  // namespace heddle::detail
