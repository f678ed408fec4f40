// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Keep);
HEDDLE_CONTRACT_SUITE(Scratch);

TEST_P(Keep, LivesUntilTheStreamWorkIsDoneAndNoLonger) {
  scheduler sched(options(2));
  int seen = 0;
  auto f = sched.submit([&](device_context& c) {
    auto& list = c.keep(std::vector<int>{1, 2, 3});
    c.enqueue([&] { seen = list[2]; });
    (void)c.keep(counted());
  });
  f.wait();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Keep, DiesOnTheDeviceThreadNewestFirst) {
  scheduler sched(options(2));
  death_record first;
  death_record second;
  const auto thread = sched
                          .submit(
                              [&](device_context& c) {
                                (void)c.keep(mortal(first));
                                (void)c.keep(mortal(second));
                                return std::this_thread::get_id();
                              },
                              route::on(1))
                          .get();
  EXPECT_EQ(first.deaths, 1);
  EXPECT_EQ(second.deaths, 1);
  EXPECT_EQ(first.thread.load(), thread);
}

TEST_P(Keep, DiesWhenTheItemThrows) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    (void)c.keep(counted());
    throw 1;
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Scratch, IsAlignedWritableMemoryOfItsOwn) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    const auto a = c.scratch<char>(3);
    const auto b = c.scratch<double>(1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 256, 0u);
    EXPECT_EQ(b.size(), 1000u);
    c.launch(1000, [b](std::int64_t i) { b[static_cast<std::size_t>(i)] = 1.0; });
    c.enqueue([a] { a[2] = 'x'; });
    double& sum = c.keep(0.0);
    c.enqueue([b, &sum] { sum = std::accumulate(b.begin(), b.end(), 0.0); });
    c.sync();
    return sum;
  });
  EXPECT_EQ(f.get(), 1000.0);
}

TEST_P(Scratch, OfNothingIsEmpty) {
  scheduler sched(options(2));
  sched.submit([](device_context& c) { EXPECT_TRUE(c.scratch<int>(0).empty()); }).get();
}

TEST_P(Scratch, BeyondTheCapFailsThatItemOnlyAndNamesDeviceAndSize) {
  auto chosen = options(2);
  limit_memory(GetParam(), chosen, 1 << 20);
  scheduler sched(chosen);
  const auto take = [](std::size_t n) { return [n](device_context& c) { (void)c.scratch<char>(n); }; };
  auto fits = sched.submit(take(1 << 19), route::on(1));
  auto too_large = sched.submit(take((1 << 20) + 1), route::on(1));
  auto later = sched.submit(take(1 << 20), route::on(1));
  fits.get();
  try {
    too_large.get();
    FAIL();
  } catch (const out_of_device_memory& e) {
    EXPECT_EQ(e.device(), 1);
    EXPECT_NE(e.operation().find("1048577"), std::string::npos) << e.operation();
  }
  later.get();
}

TEST_P(Scratch, IsGivenBackAfterEachItem) {
  auto chosen = options(1);
  limit_memory(GetParam(), chosen, 1 << 16);
  scheduler sched(chosen);
  for (int k = 0; k < 50; ++k) {
    auto f = sched.submit([k](device_context& c) {
      (void)c.scratch<char>(1 << 15);
      (void)c.scratch<char>(1 << 15);
      EXPECT_THROW((void)c.scratch<char>(1), out_of_device_memory);
      if (k % 2) throw k;
    });
    if (k % 2) {
      EXPECT_THROW(f.get(), int);
    } else {
      f.get();
    }
  }
}

TEST_P(Scratch, IsBoundedForEachDeviceByItself) {
  auto chosen = options(2);
  limit_memory(GetParam(), chosen, 1 << 16);
  scheduler sched(chosen);
  for (auto& each : sched.broadcast([](device_context& c) { (void)c.scratch<char>(1 << 16); })) each.get();
  if (on_host()) {
    EXPECT_EQ(sched.devices()[0].memory_bytes, std::size_t{1} << 16);
  }
}

TEST_P(Scratch, RefusesACountWhoseBytesOverflow) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [](device_context& c) { (void)c.scratch<double>(std::numeric_limits<std::size_t>::max() / 4); });
  EXPECT_THROW(f.get(), out_of_device_memory);
}

}  // namespace
}  // namespace heddle::test
