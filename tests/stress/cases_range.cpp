// SPDX-License-Identifier: Apache-2.0
// Ranges that are empty, reversed, huge, or do not divide; and results that depend on their order: launches
// on one device, and maps over all of them. Loops over devices: cases_loops.cpp.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <limits>
#include <numeric>
#include <random>
#include <ranges>
#include <string>
#include <tuple>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"

namespace {

using namespace heddle::test;

// llnl/RAJA#160: an empty loop is an invalid launch. Right: it succeeds without a call, and what depends on
// it runs all the same.
TEST(Range, EmptyLaunchesCallNothingAndTheirDependentsRun) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    std::atomic<int> calls{0};
    auto item = sched.submit([&](heddle::device_context& context) {
      context.launch(0, [&](std::int64_t) { ++calls; });
      context.launch(0u, [&](std::int64_t) { ++calls; });
      context.launch(heddle::extents{0, 5}, [&](std::int64_t, std::int64_t) { ++calls; });
      context.launch(heddle::extents{5, 0}, [&](std::int64_t, std::int64_t) { ++calls; });
      context.launch(heddle::extents{7, 0, 7}, [&](std::int64_t, std::int64_t, std::int64_t) { ++calls; });
      std::vector<int> none;
      context.copy(none, none);
      context.enqueue([&] { calls += 100; });
    });
    EXPECT_EQ(item.then([] { return 1; }).get(), 1);
    EXPECT_EQ(calls.load(), 100);
  });
}

// The same: reversed bounds give a negative size. Right: refused by name, and the next item is fine.
TEST(Range, NegativeSizesAreRefused) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    EXPECT_THROW(sched.submit([](heddle::device_context& c) { c.launch(3 - 7, [](std::int64_t) {}); }).get(),
                 heddle::invalid_option);
    EXPECT_THROW(heddle::extents(-1, 0), heddle::invalid_option);
    EXPECT_THROW(heddle::extents(0, std::numeric_limits<std::int64_t>::min()), heddle::invalid_option);
    EXPECT_EQ(sched.submit([] { return 1; }).get(), 1);
  });
}

// The same: empty inputs of every kind.
TEST(Range, EmptyInputsGiveEmptyResults) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto f = [](int x) { return x; };
    EXPECT_TRUE(sched.map(f, std::vector<int>{}).empty());
    EXPECT_TRUE(sched.map(f, std::forward_list<int>{}).empty());
    EXPECT_TRUE(sched.map(f, std::views::iota(5, 5)).empty());
    EXPECT_TRUE(
        sched.starmap([](int a, int b) { return a + b; }, std::vector<std::tuple<int, int>>{}).empty());
    EXPECT_NO_THROW(sched.map([](int) {}, std::vector<int>{}));
    for (const int never : sched.imap(f, std::vector<int>{})) ADD_FAILURE() << never;
    for (const int never : sched.imap_unordered(f, std::views::iota(0, 0))) ADD_FAILURE() << never;
    using nothing = void (*)();
    EXPECT_TRUE(sched.submit_batch(std::vector<nothing>{}).empty());
    EXPECT_THROW(heddle::when_all(std::vector<heddle::future<int>>{}), heddle::invalid_option);
    EXPECT_EQ(sched.stats().pending, 0u);
  });
}

// NVIDIA/thrust#967, AMReX-Codes/amrex#3489, NVIDIA/cudf#10368: wrong beyond 2^31 or 2^32. Right: sizes are
// exact, and what does not fit 64 bits is refused instead of wrapped. (The split of such ranges over devices
// waits for loops over devices.)
TEST(Range, SizesBeyond32BitsAreExact) {
  constexpr auto one = std::int64_t{1};
  for (const auto n : {(one << 31) - 1, one << 31, (one << 31) + 1, (one << 32) - 1, one << 32,
                       (one << 32) + 1, one << 40, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(heddle::extents(n).size(), n);
    EXPECT_EQ(heddle::extents(n, 1).size(), n);
    EXPECT_EQ(heddle::extents(1, n, 1)[1], n);
    EXPECT_EQ(heddle::extents(n, 0).size(), 0);
  }
  EXPECT_EQ(heddle::extents(65537, 65537).size(), std::int64_t{65537} * 65537);
  EXPECT_EQ(heddle::extents(std::uint32_t{4294967295u}, std::int8_t{127}).size(),
            std::int64_t{4294967295} * 127);
  EXPECT_EQ(heddle::extents(1 << 20, (1 << 20) + 1, 1 << 20).size(), (one << 60) + (one << 40));
  EXPECT_THROW(heddle::extents(one << 32, one << 31), heddle::invalid_option);
  EXPECT_THROW(heddle::extents(1 << 21, 1 << 21, 1 << 21), heddle::invalid_option);
  EXPECT_THROW(heddle::extents(std::numeric_limits<std::uint64_t>::max()), heddle::invalid_option);
}

// The same: indices beyond 2^32 arrive as they are. Each thread leaves its part of the loop at its first
// index, since nobody wants to wait for all of them.
TEST(Range, IndicesBeyond32BitsReachTheBody) {
  const tbb::global_control workers(tbb::global_control::max_allowed_parallelism, 5);
  heddle::scheduler sched(hosts(1));
  constexpr std::int64_t n = (std::int64_t{1} << 33) + 12345;
  std::atomic<std::int64_t> high{-1};
  struct enough {};
  auto item = sched.submit([&](heddle::device_context& context) {
    context.launch(heddle::extents{n / 3, 3}, [&](std::int64_t y, std::int64_t x) {
      const std::int64_t flat = y * 3 + x;
      if (flat > std::numeric_limits<std::uint32_t>::max()) {
        high = flat;
        high.notify_all();
      } else {
        high.wait(-1);
      }
      throw enough();
    });
  });
  EXPECT_THROW(item.get(), enough);
  EXPECT_GT(high.load(), std::int64_t{1} << 32);
  EXPECT_LT(high.load(), n);
}

// The same: values near the ends of their type, signed and unsigned, are counted right.
TEST(Range, InputsNearTheEndsOfTheirTypeAreTakenExactly) {
  on_every_machine({1, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto same = [](auto x) { return x; };
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    constexpr auto bottom = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const auto check = [&](auto begin, auto end) {
      const std::vector<decltype(begin)> got = sched.map(same, std::views::iota(begin, end));
      ASSERT_EQ(got.size(), 100u);
      auto next = begin;
      for (const auto each : got) EXPECT_EQ(each, next++);
      next = begin;
      for (const auto each : sched.imap(same, std::views::iota(begin, end))) EXPECT_EQ(each, next++);
    };
    check(top - 100, top);
    check(bottom, bottom + 100);
    check(most - 100, most);
    check(std::int64_t{-50}, std::int64_t{50});
  });
}

// The same: every integral type may say how long a launch is.
TEST(Range, LaunchesTakeAnyIntegralType) {
  on_every_machine({1, 2}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto indices_of = [&](auto n) {
      std::atomic<std::int64_t> calls{0}, sum{0};
      sched
          .submit([&](heddle::device_context& context) {
            context.launch(n, [&](std::int64_t i) {
              ++calls;
              sum += i;
            });
          })
          .get();
      const auto count = static_cast<std::int64_t>(n);
      EXPECT_EQ(calls.load(), count);
      EXPECT_EQ(sum.load(), count * (count - 1) / 2);
    };
    indices_of(std::int8_t{127});
    indices_of(std::uint8_t{255});
    indices_of(std::int16_t{32767});
    indices_of(std::uint16_t{65535});
    indices_of(100u);
    indices_of(std::size_t{1000});
  });
}

// kokkos/kokkos#7892: an overflow in block times index. Right: odd sizes give each index pair once.
TEST(Range, OddExtentsCoverEachIndexOnce) {
  on_every_machine({1, 2, 4}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (const auto& [nz, ny, nx] : {std::tuple{1, 1, 1}, {3, 5, 7}, {13, 1, 11}, {1, 97, 3}, {17, 19, 23}}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(nz * ny * nx));
      std::atomic<int> outside{0};
      auto item = sched.submit([&, nz = nz, ny = ny, nx = nx](heddle::device_context& context) {
        context.launch(heddle::extents{nz, ny, nx},
                       [&, nz, ny, nx](std::int64_t z, std::int64_t y, std::int64_t x) {
                         if (z < 0 || z >= nz || y < 0 || y >= ny || x < 0 || x >= nx) {
                           ++outside;
                         } else {
                           ++seen[static_cast<std::size_t>((z * ny + y) * nx + x)];
                         }
                       });
        context.launch(heddle::extents{nz * ny, nx}, [&, nx](std::int64_t y, std::int64_t x) {
          ++seen[static_cast<std::size_t>(y * nx + x)];
        });
      });
      item.get();
      EXPECT_EQ(outside.load(), 0);
      for (const auto& each : seen) ASSERT_EQ(each.load(), 2);
    }
  });
}

// tinygrad/tinygrad#3098: shards of different size are not supported. Right: any number of calls over any
// number of devices, in items of any size, is one call for each.
TEST(Range, MapsOfAnySizeOverAnyNumberOfDevicesCallEachOnce) {
  for (int devices = 1; devices <= 9; ++devices) {
    heddle::scheduler sched(hosts(devices));
    for (std::size_t n = 1; n <= 200; n += n < 20 ? 1 : 17) {
      for (const std::size_t chunk : {0, 1, 3, 7, 201}) {
        std::vector<std::atomic<int>> calls(n);
        const auto squares = sched.map(
            [&](std::size_t k) {
              ++calls[k];
              return k * k;
            },
            std::views::iota(std::size_t{0}, n), {.chunk = chunk});
        ASSERT_EQ(squares.size(), n);
        for (std::size_t k = 0; k < n; ++k) {
          ASSERT_EQ(calls[k].load(), 1) << k << " of " << n << " on " << devices << " in items of " << chunk;
          ASSERT_EQ(squares[k], k * k);
        }
      }
    }
  }
}

// The same, for the lazy map, whose look-ahead does not divide either.
TEST(Range, LazyMapsOfAnySizeCallEachOnceInOrder) {
  on_every_machine({1, 3, 8}, [](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (const int n : {1, 2, 16, 33, 100}) {
      for (const std::size_t chunk : {0, 1, 3, 50}) {
        for (const std::size_t ahead : {0, 1, 5, 64}) {
          std::atomic<int> calls{0};
          const auto f = [&](int k) { return ++calls, k; };
          int next = 0;
          for (const int k : sched.imap(f, std::views::iota(0, n), {.chunk = chunk, .ahead = ahead}))
            ASSERT_EQ(k, next++);
          ASSERT_EQ(next, n);
          ASSERT_EQ(calls.load(), n);
          std::vector<int> seen(static_cast<std::size_t>(n));
          for (const int k :
               sched.imap_unordered(f, std::views::iota(0, n), {.chunk = chunk, .ahead = ahead}))
            ++seen[static_cast<std::size_t>(k)];
          ASSERT_EQ(seen, std::vector<int>(static_cast<std::size_t>(n), 1));
        }
      }
    }
  });
}

// mumax/3#415: the same input gives slightly different sums, since partial sums are combined as they finish.
// Right: results come in input order, however long each call takes. (parallel_reduce has its own test once it
// exists.)
TEST(Range, SumsOfMapResultsAreTheSameBitsEveryTime) {
  std::vector<double> input(500);
  std::mt19937_64 random(20240229);
  for (auto& x : input) x = std::generate_canonical<double, 53>(random) * 1e10 - 5e9;
  const double expected =
      std::accumulate(input.begin(), input.end(), 0.0, [](double sum, double x) { return sum + x * 1.1; });
  on_every_machine([&](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    for (int run = 0; run < 12; ++run) {
      std::atomic<std::uint32_t> delay{static_cast<std::uint32_t>(run) * 977u};
      const auto slow = [&](double x) {
        for (std::uint32_t k = delay.fetch_add(7919) % 4096; k > 0; --k) __asm__ volatile("");
        return x * 1.1;
      };
      double sum = 0;
      for (const double each : sched.map(slow, input, {.chunk = 1})) sum += each;
      ASSERT_EQ(sum, expected);
      sum = 0;
      for (const double each : sched.imap(slow, input)) sum += each;
      ASSERT_EQ(sum, expected);
      std::vector<heddle::future<double>> parts;
      for (const double x : input) parts.push_back(sched.submit([&slow, x] { return slow(x); }));
      sum = 0;
      for (const double each : heddle::when_all(std::move(parts)).get()) sum += each;
      ASSERT_EQ(sum, expected);
    }
  });
}

}  // namespace
