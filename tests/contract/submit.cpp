// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Submit);

int plain_function() { return 11; }
int plain_function_of_device(device_context& context) { return context.id(); }

struct not_default {
  explicit not_default(int v) : value(v) {}
  int value;
};

TEST_P(Submit, CallsWithAContextOrWithout) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([](device_context& c) { return c.id(); }, route::on(1)).get(), 1);
  EXPECT_EQ(sched.submit([] { return 2; }).get(), 2);
  EXPECT_EQ(sched.submit([](auto& c) { return c.id(); }, route::on(1)).get(), 1);
}

TEST_P(Submit, TakesFunctionsAndCallableObjectsOfAnyKind) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit(plain_function).get(), 11);
  EXPECT_EQ(sched.submit(&plain_function_of_device, route::on(1)).get(), 1);
  const auto constant = [] { return 3; };
  EXPECT_EQ(sched.submit(constant).get(), 3);
  std::function<int()> erased = [] { return 4; };
  EXPECT_EQ(sched.submit(erased).get(), 4);
  EXPECT_TRUE(erased != nullptr) << "an lvalue is copied";
}

TEST_P(Submit, TakesMoveOnlyCallables) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([p = std::make_unique<int>(7)] { return *p; }).get(), 7);
}

TEST_P(Submit, CallsMutableCallablesOnce) {
  scheduler sched(options(2));
  EXPECT_EQ(sched.submit([n = 0]() mutable { return ++n; }).get(), 1);
}

TEST_P(Submit, GivesResultsOfAnyType) {
  scheduler sched(options(2));
  EXPECT_EQ(*sched.submit([] { return std::make_unique<int>(5); }).get(), 5);
  EXPECT_EQ(sched.submit([] { return not_default(6); }).get().value, 6);
  EXPECT_EQ(sched.submit([] { return std::string(1000, 'x'); }).get().size(), 1000u);
  static int place = 0;
  EXPECT_EQ(&sched.submit([]() -> int& { return place; }).get(), &place);
  sched.submit([] {}).get();
}

TEST_P(Submit, KeepsOveralignedCapturesAligned) {
  struct alignas(4096) wide {
    char bytes[16] = {};
  };
  scheduler sched(options(2));
  for (int k = 0; k < 10; ++k) {
    auto f = sched.submit([w = wide{}] {
      const void* volatile at = &w;  // else the compiler answers, which believes the type
      return reinterpret_cast<std::uintptr_t>(at) % 4096;
    });
    EXPECT_EQ(f.get(), 0u);
  }
}

TEST_P(Submit, RunsEachItemOnce) {
  scheduler sched(options(4));
  std::vector<std::atomic<int>> runs(2000);
  std::vector<future<void>> all;
  for (std::size_t k = 0; k < runs.size(); ++k) all.push_back(sched.submit([&runs, k] { ++runs[k]; }));
  for (auto& each : all) each.get();
  for (const auto& each : runs) EXPECT_EQ(each, 1);
}

// Source: oneTBB#1313: an arena of one has concurrency two, enqueue is not FIFO.
TEST_P(Submit, StartsPinnedItemsOfOneThreadInOrderOneAtATime) {
  scheduler sched(options(2));
  std::vector<int> order;  // by the device thread only
  std::atomic<int> inside{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 1000; ++k) {
    all.push_back(sched.submit(
        [&, k] {
          EXPECT_EQ(++inside, 1);
          order.push_back(k);
          --inside;
        },
        route::on(1)));
  }
  for (auto& each : all) each.get();
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Submit, UsesEveryDeviceForItemsOfAnyDevice) {
  scheduler sched(options(3));
  std::atomic<int> arrived{0};
  std::vector<future<int>> all;
  for (int k = 0; k < 3; ++k) {  // each holds its device until all three are taken
    all.push_back(sched.submit([&arrived] {
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
      return this_device::id();
    }));
  }
  std::set<int> seen;
  for (auto& each : all) seen.insert(each.get());
  EXPECT_EQ(seen.size(), 3u);
}

TEST_P(Submit, OfAnyDeviceDoesNotWaitBehindABusyOne) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  for (int k = 0; k < 200; ++k) EXPECT_EQ(sched.submit([] { return this_device::id(); }).get(), 1);
}

TEST_P(Submit, FromManyThreadsLosesNothing) {
  scheduler sched(options(2));
  std::atomic<int> sum{0};
  std::vector<std::thread> submitters;
  for (int t = 0; t < 8; ++t) {
    submitters.emplace_back([&] {
      std::vector<future<void>> mine;
      for (int k = 0; k < 500; ++k) mine.push_back(sched.submit([&sum] { ++sum; }));
      for (auto& each : mine) each.get();
    });
  }
  for (auto& each : submitters) each.join();
  EXPECT_EQ(sum, 4000);
}

TEST_P(Submit, LeavesTheCallableUntouchedWhenTheRouteIsBad) {
  scheduler sched(options(2));
  auto f = [p = std::make_unique<int>(1)] { return *p; };
  EXPECT_THROW((void)sched.submit(std::move(f), route::on(9)), invalid_option);
  EXPECT_EQ(f(), 1);
}

TEST_P(Submit, SurvivesACallableWhoseCopyThrows) {
  struct brittle {
    brittle() = default;
    brittle(const brittle&) { throw 3; }
    brittle(brittle&&) = default;
    void operator()() const {}
  };
  scheduler sched(options(2));
  const brittle f;
  EXPECT_THROW((void)sched.submit(f), int);
  EXPECT_EQ(sched.stats().pending, 0u);
  EXPECT_EQ(sched.stats().queued, 0u);
  sched.drain();
}

TEST_P(Submit, FromAnItemOfAnotherSchedulerWorks) {
  scheduler one(options(2));
  scheduler two(options(2));
  EXPECT_EQ(one.submit([&two] { return two.submit([] { return 5; }); }).get().get(), 5);
}

TEST_P(Submit, GoesOnAfterExceptionsOfEveryKind) {
  scheduler sched(options(1));
  EXPECT_THROW(sched.submit([] { throw std::runtime_error("r"); }).get(), std::runtime_error);
  EXPECT_THROW(sched.submit([] { throw 5; }).get(), int);
  EXPECT_THROW(sched.submit([] { throw counted(); }).get(), counted);
  EXPECT_EQ(sched.submit([] { return 1; }).get(), 1);
}

TEST_P(Submit, DestroysEveryCallableOnceOnTheDeviceThread) {
  scheduler sched(options(2));
  const auto device_thread = sched.submit([] { return std::this_thread::get_id(); }, route::on(1)).get();
  std::vector<death_record> records(200);
  std::vector<future<void>> all;
  for (std::size_t k = 0; k < records.size(); ++k) {
    all.push_back(sched.submit(
        [k, m = mortal(records[k])] {
          if (k % 3 == 0) throw 1;
        },
        route::on(1)));
  }
  for (std::size_t k = 0; k < records.size(); ++k) {
    all[k].wait();
    EXPECT_EQ(records[k].deaths, 1);
    EXPECT_EQ(records[k].thread.load(), device_thread);
  }
  for (std::size_t k = 0; k < records.size(); k += 3) EXPECT_THROW(all[k].get(), int);
}

TEST_P(Submit, OfACallableThatReturnsAConst) {
  scheduler sched(options(1));
  // NOLINTNEXTLINE(readability-const-return-type)
  auto f = sched.submit([]() -> const std::string { return "value"; });
  static_assert(std::is_same_v<decltype(f), future<std::string>>);
  EXPECT_EQ(f.get(), "value");
}

struct without_address {
  int value = 0;
  without_address* operator&() const = delete;
};

TEST_P(Submit, TakesResultsOfAnyType) {
  scheduler sched(options(1));
  EXPECT_EQ(sched.submit([] { return without_address{3}; }).get().value, 3);
  auto held = std::make_unique<int>(4);
  const std::unique_ptr<int> given =
      sched.submit([&]() -> std::unique_ptr<int>&& { return std::move(held); }).get();
  EXPECT_EQ(*given, 4);
}

}  // namespace
}  // namespace heddle::test
