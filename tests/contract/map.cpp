// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Map);

std::vector<int> first_numbers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::string what_of(const std::runtime_error& e) { return e.what(); }

TEST_P(Map, GivesResultsInInputOrder) {
  scheduler sched(options(3));
  const auto squares = sched.map([](int x) { return x * x; }, first_numbers(1000));
  ASSERT_EQ(squares.size(), 1000u);
  for (int k = 0; k < 1000; ++k) EXPECT_EQ(squares[static_cast<std::size_t>(k)], k * k);
}

TEST_P(Map, PassesTheContextToWhoTakesIt) {
  scheduler sched(options(2));
  map_options where;
  where.route = route::on(1);
  const auto ids =
      sched.map([](device_context& c, int x) { return c.id() * 100 + x; }, first_numbers(3), where);
  EXPECT_EQ(ids, (std::vector<int>{100, 101, 102}));
}

TEST_P(Map, OfNothingIsNothing) {
  scheduler sched(options(2));
  EXPECT_TRUE(sched.map([](int x) { return x; }, std::vector<int>{}).empty());
  sched.map([](int) {}, std::list<int>{});
}

TEST_P(Map, OfVoidCallsReturnsNothingAndRunsEachOnce) {
  scheduler sched(options(2));
  std::vector<std::atomic<int>> runs(500);
  sched.map([&](int k) { ++runs[static_cast<std::size_t>(k)]; }, first_numbers(500));
  for (const auto& each : runs) EXPECT_EQ(each, 1);
}

TEST_P(Map, WritesBoolsSafely) {
  scheduler sched(options(4));
  for (int round = 0; round < 20; ++round) {
    const std::vector<bool> odd = sched.map([](int x) { return x % 2 == 1; }, first_numbers(999));
    for (int k = 0; k < 999; ++k) ASSERT_EQ(odd[static_cast<std::size_t>(k)], k % 2 == 1);
  }
}

TEST_P(Map, ReadsBools) {
  scheduler sched(options(2));
  const std::vector<bool> bits{true, false, true};
  EXPECT_EQ(sched.map([](bool b) { return b ? 1 : 0; }, bits), (std::vector<int>{1, 0, 1}));
}

TEST_P(Map, TakesMoveOnlyElementsOfAnRvalueAndGivesMoveOnlyResults) {
  scheduler sched(options(2));
  std::vector<std::unique_ptr<int>> in;
  for (int k = 0; k < 20; ++k) in.push_back(std::make_unique<int>(k));
  const auto out = sched.map([](std::unique_ptr<int> p) { return p; }, std::move(in));
  for (int k = 0; k < 20; ++k) EXPECT_EQ(*out[static_cast<std::size_t>(k)], k);
}

TEST_P(Map, TakesMoveOnlyElementsOfAnRvalueOfAnyShape) {
  scheduler sched(options(2));
  const auto value = [](std::unique_ptr<int> p) { return *p; };
  std::deque<std::unique_ptr<int>> deque;
  deque.push_back(std::make_unique<int>(1));
  EXPECT_EQ(sched.map(value, std::move(deque)), std::vector<int>{1});
  std::list<std::unique_ptr<int>> list;
  list.push_back(std::make_unique<int>(2));
  EXPECT_EQ(sched.map(value, std::move(list)), std::vector<int>{2});
  const auto fresh =
      std::views::iota(3, 4) | std::views::transform([](int x) { return std::make_unique<int>(x); });
  EXPECT_EQ(sched.map(value, fresh), std::vector<int>{3});
}

TEST_P(Map, PassesAnLvaluesElementsByReference) {
  scheduler sched(options(2));
  auto numbers = first_numbers(100);
  sched.map([](int& x) { x *= 2; }, numbers);
  EXPECT_EQ(numbers[99], 198);
}

TEST_P(Map, LeavesTheElementsBehindAViewWhereTheyAre) {
  scheduler sched(options(2));
  std::vector<std::string> words{"long enough to live on the heap, one",
                                 "long enough to live on the heap, two"};
  const auto before = words;
  const auto length = [](std::string s) { return s.size(); };
  sched.map(length, std::span(words));
  sched.map(length, std::views::all(words));
  sched.map(length, words | std::views::take(2));
  sched.map(length, words | std::views::filter([](const auto&) { return true; }));
  sched.map(length, words);
  EXPECT_EQ(words, before);
}

TEST_P(Map, GivesResultsWithoutDefaultConstructor) {
  struct plain {
    explicit plain(int v) : value(v) {}
    plain(const plain&) = delete;
    plain(plain&&) = default;
    plain& operator=(plain&&) = delete;
    int value;
  };
  scheduler sched(options(2));
  const auto out = sched.map([](int x) { return plain(x); }, first_numbers(50));
  EXPECT_EQ(out[49].value, 49);
}

TEST_P(Map, ReadsListsViewsAndInputRanges) {
  scheduler sched(options(2));
  const auto twice = [](int x) { return 2 * x; };
  const std::vector<int> expected{2, 4, 6};
  EXPECT_EQ(sched.map(twice, std::list<int>{1, 2, 3}), expected);
  EXPECT_EQ(sched.map(twice, std::forward_list<int>{1, 2, 3}), expected);
  EXPECT_EQ(sched.map(twice, std::deque<int>{1, 2, 3}), expected);
  EXPECT_EQ(sched.map(twice, std::set<int>{1, 2, 3}), expected);
  EXPECT_EQ(sched.map(twice, std::views::iota(1, 4)), expected);
  EXPECT_EQ(sched.map(twice, std::array{1, 2, 3}), expected);
  int raw[] = {1, 2, 3};
  EXPECT_EQ(sched.map(twice, raw), expected);
  std::istringstream text("1 2 3");
  EXPECT_EQ(sched.map(twice, std::views::istream<int>(text)), expected);
}

TEST_P(Map, LeavesAnLvalueListAsItWas) {
  scheduler sched(options(2));
  std::list<std::string> words{"one", "two"};
  sched.map([](std::string s) { return s; }, words);
  EXPECT_EQ(words.front(), "one");
}

TEST_P(Map, ThrowsTheFirstExceptionByPosition) {
  scheduler sched(options(3));
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    map_options how;
    how.chunk = chunk;
    for (int round = 0; round < 20; ++round) {
      try {
        sched.map(
            [](int x) {
              if (x >= 37) throw std::runtime_error(std::to_string(x));
            },
            first_numbers(120), how);
        FAIL();
      } catch (const std::runtime_error& e) {
        ASSERT_EQ(what_of(e), "37");
      }
    }
  }
}

TEST_P(Map, RunsEverythingBeforeTheFirstFailure) {
  scheduler sched(options(3));
  std::vector<std::atomic<int>> runs(100);
  map_options how;
  how.chunk = 1;
  EXPECT_THROW(sched.map(
                   [&](int x) {
                     ++runs[static_cast<std::size_t>(x)];
                     if (x == 60) throw 1;
                   },
                   first_numbers(100), how),
               int);
  for (int k = 0; k <= 60; ++k) EXPECT_EQ(runs[static_cast<std::size_t>(k)], 1);
}

TEST_P(Map, HasNoCallRunningWhenItThrows) {
  scheduler sched(options(4));
  std::atomic<int> running{0};
  map_options how;
  how.chunk = 1;
  for (int round = 0; round < 30; ++round) {
    EXPECT_THROW(sched.map(
                     [&](int x) {
                       ++running;
                       if (x == 2) --running, throw x;
                       for (int k = 0; k < 1000; ++k) std::this_thread::yield();
                       --running;
                     },
                     first_numbers(6), how),
                 int);
    ASSERT_EQ(running, 0);
  }
}

TEST_P(Map, PutsAsManyCallsInAnItemAsAsked) {
  scheduler sched(options(2));
  const auto started = [&] {
    std::uint64_t all = 0;
    for (const auto& each : sched.stats().devices) all += each.started;
    return all;
  };
  for (const std::size_t chunk : {1u, 7u, 100u, 1000u}) {
    const auto before = started();
    map_options how;
    how.chunk = chunk;
    sched.map([](int) {}, first_numbers(100), how);
    EXPECT_EQ(started() - before, (100 + chunk - 1) / chunk);
  }
}

TEST_P(Map, WorksInsideAnItem) {
  scheduler sched(options(2));
  auto f = sched.submit([&sched] { return sched.map([](int x) { return x + 1; }, first_numbers(100)); });
  EXPECT_EQ(f.get()[99], 100);
}

TEST_P(Map, WorksInsideTheCallsOfAMap) {
  scheduler sched(options(2));
  const auto sums = sched.map(
      [&sched](int x) {
        int sum = 0;
        for (const int y : sched.map([x](int z) { return x * z; }, first_numbers(10))) sum += y;
        return sum;
      },
      first_numbers(20));
  for (int k = 0; k < 20; ++k) EXPECT_EQ(sums[static_cast<std::size_t>(k)], 45 * k);
}

TEST_P(Map, IsRefusedInTheArenaAndRunsNothing) {
  scheduler sched(options(2));
  std::atomic<int> runs{0};
  auto f = sched.submit([&] { sched.map([&](int) { ++runs; }, first_numbers(4)); }, route::any().in_arena());
  EXPECT_THROW(f.get(), would_deadlock);
  EXPECT_EQ(runs, 0);
}

TEST_P(Map, EndsAsCancelledWhenItsItemsAre) {
  scheduler sched(options(1));
  gate running;
  gate go;
  std::thread canceller([&] {
    running.wait();
    // What the map submits after the cancel runs.
    EXPECT_TRUE(eventually([&] { return sched.stats().pending == 50; }));
    sched.cancel();
    go.open();
  });
  map_options how;
  how.chunk = 1;
  EXPECT_THROW(sched.map(
                   [&](int) {
                     running.open();
                     go.wait();
                   },
                   first_numbers(50), how),
               cancelled);
  canceller.join();
}

TEST_P(Map, IsRefusedByAClosedScheduler) {
  scheduler sched(options(2));
  sched.close();
  EXPECT_THROW(sched.map([](int) {}, first_numbers(3)), scheduler_stopped);
}

TEST_P(Map, WithABadRouteRunsNothing) {
  scheduler sched(options(2));
  map_options how;
  how.route = route::on(17);
  EXPECT_THROW(sched.map([](int) {}, first_numbers(3), how), invalid_option);
}

TEST_P(Map, LargerThanTheQueueWaitsForRoom) {
  auto chosen = options(2);
  chosen.queue_capacity = 2;
  scheduler sched(chosen);
  map_options how;
  how.chunk = 1;
  EXPECT_EQ(sched.map([](int x) { return x; }, first_numbers(100), how), first_numbers(100));
}

TEST_P(Map, ThrowsWhatTheInputThrowsAndRunsNothing) {
  scheduler sched(options(2));
  std::atomic<int> runs{0};
  auto broken = std::views::iota(0, 10) | std::views::transform([](int x) {
                  if (x == 5) throw std::runtime_error("input");
                  return x;
                });
  EXPECT_THROW(sched.map([&](int) { ++runs; }, broken), std::runtime_error);
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace heddle::test
