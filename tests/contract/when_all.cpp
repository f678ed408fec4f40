// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(WhenAll);

TEST_P(WhenAll, GivesValuesInOrder) {
  scheduler sched(options(3));
  std::vector<future<int>> all;
  for (int k = 0; k < 100; ++k) all.push_back(sched.submit([k] { return k; }));
  const auto values = when_all(std::move(all)).get();
  ASSERT_EQ(values.size(), 100u);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(values[static_cast<std::size_t>(k)], k);
}

TEST_P(WhenAll, OfVoidsIsVoid) {
  scheduler sched(options(2));
  std::atomic<int> runs{0};
  auto all = sched.broadcast([&] { ++runs; });
  static_assert(std::is_same_v<decltype(when_all(std::move(all))), future<void>>);
  when_all(std::move(all)).get();
  EXPECT_EQ(runs, 2);
}

TEST_P(WhenAll, OfSeveralTypesIsATuple) {
  scheduler sched(options(2));
  auto f = when_all(sched.submit([] { return 1; }), sched.submit([] {}),
                    sched.submit([] { return std::make_unique<int>(3); }));
  const auto [a, nothing, c] = f.get();
  static_assert(std::is_same_v<decltype(nothing), const std::monostate>);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(*c, 3);
}

TEST_P(WhenAll, OfBoolsIsSafe) {
  scheduler sched(options(2));
  std::vector<future<bool>> all;
  for (int k = 0; k < 70; ++k) all.push_back(sched.submit([k] { return k % 3 == 0; }));
  const std::vector<bool> bits = when_all(std::move(all)).get();
  for (int k = 0; k < 70; ++k) EXPECT_EQ(bits[static_cast<std::size_t>(k)], k % 3 == 0);
}

TEST_P(WhenAll, ThrowsTheFirstErrorByPositionAndTellsTheOthers) {
  auto chosen = options(3);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    occupied_device busy(sched, 0);
    std::vector<future<void>> all;
    all.push_back(sched.submit([] {}));
    all.push_back(sched.submit([] { throw std::string("first"); }, route::on(0)));
    all.push_back(sched.submit([] { throw std::string("second"); }, route::on(1)));
    auto f = when_all(std::move(all));
    busy.release();
    try {
      f.get();
      FAIL();
    } catch (const std::string& e) {
      EXPECT_EQ(e, "first");
    }
  }
  EXPECT_EQ(log.size(), 1u);
}

TEST_P(WhenAll, RunsNothingBeforeTheLastHasEnded) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  std::atomic<int> runs{0};
  auto f = when_all(sched.submit([] {}, route::on(1)), sched.submit([] {}, route::on(0))).then([&](auto) {
    ++runs;
  });
  sched.submit([] {}, route::on(1)).get();
  EXPECT_EQ(runs, 0);
  busy.release();
  f.get();
  EXPECT_EQ(runs, 1);
}

TEST_P(WhenAll, OfNoneIsRefused) { EXPECT_THROW((void)when_all(std::vector<future<int>>{}), invalid_option); }

TEST_P(WhenAll, OfAFutureThatRefersToNothingIsRefused) {
  scheduler sched(options(2));
  EXPECT_THROW((void)when_all(sched.submit([] {}), future<int>()), std::future_error);
  std::vector<future<void>> all(2);
  EXPECT_THROW((void)when_all(std::move(all)), std::future_error);
}

TEST_P(WhenAll, OfFinishedItemsIsReadyAtLast) {
  scheduler sched(options(2));
  for (int round = 0; round < 500; ++round) {
    auto all = sched.broadcast([] { return 1; });
    if (round % 2) {
      for (auto& each : all) each.wait();
    }
    EXPECT_EQ(when_all(std::move(all)).get().size(), 2u);
  }
}

TEST_P(WhenAll, JoinsItemsOfTwoSchedulers) {
  scheduler one(options(2));
  scheduler two(options(5));
  auto f = when_all(one.submit([] { return 1; }), two.submit([] { return 2; }, route::on(4)));
  EXPECT_EQ(f.get(), (std::tuple{1, 2}));
}

TEST_P(WhenAll, AfterCloseIsRefused) {
  scheduler sched(options(2));
  auto f = sched.submit([] {});
  f.wait();
  sched.close();
  EXPECT_THROW((void)when_all(std::move(f)), scheduler_stopped);
}

}  // namespace
}  // namespace heddle::test
