// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Imap);

const auto same = [](int x) { return x; };

TEST_P(Imap, GivesResultsInInputOrder) {
  scheduler sched(options(3));
  int next = 0;
  for (const int x : sched.imap([](int k) { return k * 3; }, std::views::iota(0, 500)))
    EXPECT_EQ(x, 3 * next++);
  EXPECT_EQ(next, 500);
}

TEST_P(Imap, OfNothingIsNothing) {
  scheduler sched(options(2));
  for (const int x : sched.imap(same, std::vector<int>{})) FAIL() << x;
}

TEST_P(Imap, StartsNothingBeforeItIsRead) {
  scheduler sched(options(2));
  std::atomic<int> runs{0};
  int taken = 0;
  {
    auto results =
        sched.imap([&](int x) { return ++runs, x; },
                   std::views::iota(0, 10) | std::views::transform([&](int x) { return ++taken, x; }));
    sched.drain();
  }
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(taken, 0);
}

TEST_P(Imap, ReadsAnInfiniteInputNoFurtherThanAhead) {
  scheduler sched(options(2));
  map_options how;
  how.ahead = 5;
  int taken = 0;  // not atomic: the input advances on this thread only
  const auto reader = std::this_thread::get_id();
  auto results = sched.imap(same, std::views::iota(0) | std::views::transform([&](int x) {
                                    EXPECT_EQ(std::this_thread::get_id(), reader);
                                    ++taken;
                                    return x;
                                  }),
                            how);
  int read = 0;
  for (const int x : results) {
    EXPECT_EQ(x, read++);
    EXPECT_LE(taken, read + 5);
    if (read == 100) break;
  }
  EXPECT_LE(taken, 105);
}

TEST_P(Imap, TakesMoveOnlyElementsAndGivesMoveOnlyResults) {
  scheduler sched(options(2));
  std::vector<std::unique_ptr<int>> in;
  for (int k = 0; k < 30; ++k) in.push_back(std::make_unique<int>(k));
  int next = 0;
  for (auto& p : sched.imap([](std::unique_ptr<int> x) { return x; }, std::move(in))) {
    const auto mine = std::move(p);
    EXPECT_EQ(*mine, next++);
  }
  EXPECT_EQ(next, 30);
}

TEST_P(Imap, LeavesTheElementsBehindAViewWhereTheyAre) {
  scheduler sched(options(2));
  std::vector<std::string> words{"long enough to live on the heap, one",
                                 "long enough to live on the heap, two"};
  const auto before = words;
  const auto length = [](std::string s) { return s.size(); };
  for (const auto n : sched.imap(length, std::span(words))) EXPECT_EQ(n, 36u);
  EXPECT_EQ(words, before);
  for (const auto n : sched.imap(length, words | std::views::filter([](const auto&) { return true; }))) {
    EXPECT_EQ(n, 36u);
  }
  EXPECT_EQ(words, before);
}

TEST_P(Imap, OwnsItsInput) {
  scheduler sched(options(2));
  std::vector<std::string> words{"long enough to live on the heap, one"};
  const auto before = words;
  for (const auto& s : sched.imap([](std::string x) { return x; }, words)) EXPECT_EQ(s, before[0]);
  EXPECT_EQ(words, before) << "an lvalue is copied";
}

TEST_P(Imap, ReadsBoolsAsBools) {
  scheduler sched(options(2));
  const std::vector<bool> bits{true, false, true};
  std::vector<int> out;
  for (const int x :
       sched.imap([](auto b) { return std::is_same_v<decltype(b), bool> ? int{b} : 9; }, bits)) {
    out.push_back(x);
  }
  EXPECT_EQ(out, (std::vector<int>{1, 0, 1}));
}

TEST_P(Imap, ThrowsWhereTheFailedElementIsReadAndGoesOn) {
  scheduler sched(options(2));
  for (const std::size_t chunk : {0u, 3u, 100u}) {
    map_options how;
    how.chunk = chunk;
    auto results = sched.imap(
        [](int x) {
          if (x % 4 == 1) throw std::runtime_error(std::to_string(x));
          return x;
        },
        std::views::iota(0, 40), how);
    int position = 0;
    for (auto it = results.begin(); it != results.end(); ++it, ++position) {
      if (position % 4 == 1) {
        EXPECT_THROW((void)*it, std::runtime_error);
        EXPECT_THROW((void)*it, std::runtime_error) << "twice is no harm";
      } else {
        EXPECT_EQ(*it, position);
      }
    }
    EXPECT_EQ(position, 40);
  }
}

TEST_P(Imap, LeftEarlyWaitsForWhatStarted) {
  scheduler sched(options(2));
  std::atomic<int> running{0};
  for (int round = 0; round < 20; ++round) {
    for (const int x : sched.imap(
             [&](int k) {
               ++running;
               for (int spin = 0; spin < 500; ++spin) std::this_thread::yield();
               --running;
               return k;
             },
             std::views::iota(0))) {
      if (x == 3) break;
    }
    ASSERT_EQ(running, 0);
  }
}

TEST_P(Imap, LeftEarlyCancelsWhatHasNotStarted) {
  scheduler sched(options(1));
  std::atomic<int> runs{0};
  std::atomic<bool> leaving{false};
  gate second;
  std::thread opener([&, reader = this_thread_number()] {
    // The reader cancels what it left behind and then sleeps, since the second call is held.
    while (!leaving || !sleeps(reader)) std::this_thread::yield();
    second.open();
  });
  {
    map_options how;
    how.ahead = 10;
    auto results = sched.imap(
        [&](int x) {
          ++runs;
          if (x == 1) second.wait();
          return x;
        },
        std::views::iota(0, 100), how);
    EXPECT_EQ(*results.begin(), 0);
    while (runs < 2) std::this_thread::yield();
    leaving = true;
  }
  opener.join();
  EXPECT_EQ(runs, 2);
}

TEST_P(Imap, DestroysAllOfItsObjects) {
  scheduler sched(options(2));
  for (const int read : {0, 1, 7}) {
    int left = read;
    std::vector<counted> in(50);
    auto results = sched.imap([c = counted()](counted x) { return x; }, std::move(in));
    if (read == 0) continue;
    for (auto& each : results) {
      (void)each;
      if (--left == 0) break;
    }
  }
}

TEST_P(Imap, InChunksKeepsOrderAndTheBound) {
  scheduler sched(options(2));
  map_options how;
  how.chunk = 4;
  how.ahead = 8;
  int taken = 0;
  int read = 0;
  for (const int x : sched.imap(
           same, std::views::iota(0, 103) | std::views::transform([&](int k) { return ++taken, k; }), how)) {
    EXPECT_EQ(x, read++);
    EXPECT_LE(taken, read + 8 + 4);
  }
  EXPECT_EQ(read, 103);
}

TEST_P(Imap, ThrowsWhatTheInputThrows) {
  scheduler sched(options(2));
  auto results = sched.imap(same, std::views::iota(0, 10) | std::views::transform([](int x) {
                                    if (x == 5) throw std::out_of_range("input");
                                    return x;
                                  }));
  std::vector<int> read;
  const auto read_all = [&] {
    for (const int x : results) read.push_back(x);
  };
  EXPECT_THROW(read_all(), std::out_of_range);
  EXPECT_EQ(read, (std::vector<int>{0, 1, 2, 3, 4})) << "what came before is read before";
}

TEST_P(Imap, EndsBehindWhatTheInputThrows) {
  scheduler sched(options(2));
  map_options how;
  how.chunk = 3;
  int asked = 0;
  auto results = sched.imap(same, std::views::iota(0, 10) | std::views::transform([&asked](int x) {
                                    ++asked;
                                    if (x == 4) throw std::out_of_range("input");
                                    return x;
                                  }),
                            how);
  auto it = results.begin();
  for (int x = 0; x < 3; ++x, ++it) EXPECT_EQ(*it, x);
  EXPECT_EQ(*it, 3);
  EXPECT_THROW(++it, std::out_of_range);
  ++it;
  EXPECT_TRUE(it == results.end());
  EXPECT_EQ(asked, 5) << "the input is not read any further";
}

TEST_P(Imap, WorksInsideAnItemOnItsOwnDevice) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&sched] {
        int sum = 0;
        map_options how;
        how.route = route::on(0);
        for (const int x : sched.imap(same, std::views::iota(0, 100), how)) sum += x;
        return sum;
      },
      route::on(0));
  EXPECT_EQ(f.get(), 4950);
}

TEST_P(Imap, IsRefusedByAClosedScheduler) {
  scheduler sched(options(2));
  auto results = sched.imap(same, std::views::iota(0, 5));
  sched.close();
  EXPECT_THROW((void)results.begin(), scheduler_stopped);
}

TEST_P(Imap, IsRefusedInTheArena) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&sched] {
        for (const int x : sched.imap(same, std::views::iota(0, 5))) (void)x;
      },
      route::any().in_arena());
  EXPECT_THROW(f.get(), would_deadlock);
}

TEST_P(Imap, MayBeMovedBeforeItIsRead) {
  scheduler sched(options(2));
  auto first = sched.imap(same, std::views::iota(0, 5));
  auto second = std::move(first);
  int sum = 0;
  for (const int x : second) sum += x;
  EXPECT_EQ(sum, 10);
}

TEST_P(Imap, TellsCancelledElementsAndEnds) {
  scheduler sched(options(1));
  map_options how;
  how.ahead = 4;
  gate running;
  gate go;
  auto results = sched.imap([&](int x) { return running.open(), go.wait(), x; }, std::views::iota(0, 4), how);
  std::thread canceller([&] {
    running.wait();
    while (sched.stats().queued < 3) std::this_thread::yield();
    sched.cancel();
    go.open();
  });
  int values = 0;
  int dropped = 0;
  for (auto it = results.begin(); it != results.end(); ++it) {
    try {
      (void)*it;
      ++values;
    } catch (const cancelled&) {
      ++dropped;
    }
  }
  canceller.join();
  EXPECT_EQ(values, 1);
  EXPECT_EQ(dropped, 3);
}

}  // namespace
}  // namespace heddle::test
