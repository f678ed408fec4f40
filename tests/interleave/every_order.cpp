// SPDX-License-Identifier: Apache-2.0
// What the explorer promises: every order, each once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "interleave/stepped_word.hpp"

namespace heddle::interleave {
namespace {

// Threads that share nothing but take steps: the letters of `order` are theirs.
program of_steps(const std::string& order) {
  auto word = std::make_shared<stepped<int>>(0);
  program all;
  for (char name = 'a'; order.find(name) != std::string::npos; ++name) {
    const auto count = std::count(order.begin(), order.end(), name);
    all.bodies.emplace_back([word, count] {
      for (long k = 0; k < count; ++k) word->fetch_add(1);
    });
  }
  all.at_end = [] {};
  return all;
}

// How many orders of these letters leave a letter that still comes later at most `most` times.
std::uint64_t orders_of(std::string letters, int most) {
  std::sort(letters.begin(), letters.end());
  std::uint64_t count = 0;
  do {
    int preemptions = 0;
    for (std::size_t k = 0; k + 1 < letters.size(); ++k) {
      if (letters[k] != letters[k + 1] && letters.find(letters[k], k + 1) != std::string::npos) ++preemptions;
    }
    if (preemptions <= most) ++count;
  } while (std::next_permutation(letters.begin(), letters.end()));
  return count;
}

TEST(Explorer, RunsEachOrderOfTheStepsOnce) {
  for (const std::string steps : {"aaabbb", "aabbbb", "aaabbbcc"}) {
    for (int most = 0; most <= 8; ++most) {
      const auto found = explore(most, [&] { return of_steps(steps); });
      EXPECT_EQ(found.failure, "");
      EXPECT_EQ(found.interleavings, orders_of(steps, most)) << steps << ", " << most;
    }
  }
}

TEST(Explorer, FindsALostUpdateWithOnePreemption) {
  const auto two_increments = [] {
    auto word = std::make_shared<stepped<int>>(0);
    const auto increment = [word] { word->store(word->load() + 1); };
    return program{{increment, increment}, [word] {
                     if (word->load() != 2) fail("an update is lost");
                   }};
  };
  EXPECT_EQ(explore(0, two_increments).failure, "");
  EXPECT_NE(explore(1, two_increments).failure.find("an update is lost"), std::string::npos);
}

TEST(Explorer, FindsWhoSleepsForGood) {
  const auto found = explore(0, [] {
    auto word = std::make_shared<stepped_futex::word>(std::uint64_t{0});
    const auto sleep = [word] {
      while (word->load() == 0) stepped_futex::wait(*word, 0);
    };
    return program{{sleep, [word] { word->store(1); }}, [] {}};
  });
  EXPECT_NE(found.failure.find("asleep"), std::string::npos);
}

TEST(Explorer, FindsWhatGoesRoundInCircles) {
  const auto found = explore(0, [] {
    auto word = std::make_shared<stepped<int>>(0);
    return program{{[word] {
                     while (word->load() == 0) {
                     }
                   }},
                   [] {}};
  });
  EXPECT_NE(found.failure.find("does not end"), std::string::npos);
}

}  // namespace
}  // namespace heddle::interleave
