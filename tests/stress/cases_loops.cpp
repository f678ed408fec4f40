// SPDX-License-Identifier: Apache-2.0
// What has gone wrong in other people's loops over several devices. Each test names its source.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"
#include "stress/seed.hpp"

namespace heddle::test {
namespace {

// tinygrad/tinygrad#3098: uneven shards unsupported. Right: each index once, whatever does not divide.
TEST(Loops, OfAnySizeCoverEachIndexOnceOnAnyNumberOfDevicesByAnyGrain) {
  for (int devices = 1; devices <= 9; ++devices) {
    scheduler sched(hosts(devices));
    for (std::int64_t n = 1; n <= 200; n += n < 20 ? 1 : 7) {
      for (const std::int64_t grain : {1, 3, 7, 61}) {
        std::vector<std::atomic<int>> counts(static_cast<std::size_t>(n));
        loop_options how;
        how.split = split::dynamic(grain);
        parallel_for(sched, n, how, [&](std::int64_t i) { ++counts[static_cast<std::size_t>(i)]; });
        for (const auto& count : counts) ASSERT_EQ(count, 1) << n << " by " << grain << " on " << devices;
      }
    }
  }
}

// kokkos#7892, NVIDIA/thrust#967: wrong beyond 2^31 or 2^32, in the product of block and index. Right: exact.
TEST(Loops, BeyondThirtyTwoBitsAreCutExactly) {
  scheduler sched(hosts(3));
  for (const std::int64_t n :
       {(std::int64_t{1} << 31) - 1, (std::int64_t{1} << 32) + 1, (std::int64_t{1} << 40) + 7}) {
    for (const auto& how :
         {split::even(), split::weighted({1, 2, 5}), split::dynamic((n / 9) | 1), split::measured()}) {
      std::mutex mutex;
      std::vector<index_range> parts;
      loop_options options;
      options.split = how;
      for_each_chunk(sched, n, options, [&](device_context&, index_range part) {
        const std::lock_guard lock(mutex);
        parts.push_back(part);
      });
      std::sort(parts.begin(), parts.end(), [](auto a, auto b) { return a.begin < b.begin; });
      std::int64_t at = 0;
      for (const auto& part : parts) {
        ASSERT_EQ(part.begin, at);
        at = part.end;
      }
      ASSERT_EQ(at, n);
    }
  }
}

// llnl/RAJA#160: an empty loop is an invalid launch. Right: nothing runs, and what depends on it goes on.
TEST(Loops, OverNothingRunNothingAndTheirDependentsGoOn) {
  scheduler sched(hosts(4));
  std::vector<int> nothing;
  for (int round = 0; round < 50; ++round) {
    int after = 0;
    parallel_for_async(
        sched, 0, [](std::int64_t, view<int>) { ADD_FAILURE(); }, out(nothing))
        .then([&] { after = 1; })
        .get();
    EXPECT_EQ(after, 1);
    EXPECT_EQ(parallel_reduce_async(sched, 0, 5, std::plus<>(), [](std::int64_t) { return 1; }).get(), 5);
  }
}

// h2oai/datatable#2521: one thread throws, the rest wait for ever. Right: all return, one exception, nothing
// runs afterwards.
TEST(Loops, ThatThrowAnywhereEndWithOneExceptionAndNothingRunning) {
  std::mt19937_64 draw(stress_seed());
  for (int round = 0; round < 200; ++round) {
    scheduler sched(hosts(1 + round % 5));
    const auto n = static_cast<std::int64_t>(1 + draw() % 5000);
    const auto bad = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(n));
    std::atomic<bool> over{false};
    std::atomic<int> late{0};
    loop_options how;
    if (round % 3 == 1) how.split = split::even();
    if (round % 3 == 2) how.split = split::dynamic(1 + n / 13);
    try {
      parallel_for(sched, n, how, [&](std::int64_t i) {
        if (over) ++late;
        if (i == bad) throw i;
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::int64_t& i) {
      over = true;
      EXPECT_EQ(i, bad);
    }
    sched.join();
    EXPECT_EQ(late, 0);
  }
}

// mumax/3#415: the same input, slightly different sums. Right: the same bits, whoever is slow.
TEST(Loops, GiveTheSameSumsWhateverTheDelays) {
  std::vector<double> x(20011);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1. / static_cast<double>(i + 3);
  double first = 0;
  std::mt19937_64 draw(stress_seed());
  for (int round = 0; round < 100; ++round) {
    scheduler sched(hosts(1 + round % 4));
    const std::uint64_t salt = draw();
    const double sum = parallel_reduce(
        sched, x.size(), 0., std::plus<>(),
        [salt](std::int64_t i, view<const double> v) {
          if ((static_cast<std::uint64_t>(i) * 2654435761u + salt) % 4999 == 0) std::this_thread::yield();
          return v[i];
        },
        in(x));
    if (round == 0) first = sum;
    ASSERT_EQ(std::memcmp(&sum, &first, sizeof sum), 0);
  }
}

// solana-labs/solana-perf-libs#82: round robin drags to the slowest GPU. Right: near the ideal at speeds
// 1 : 1 : 4. Bodies sleep, so that the machine's own load does not matter much; still the best of some runs.
TEST(Loops, ShareTheWorkByTheSpeedOfTheDevices) {
  using clock = std::chrono::steady_clock;
  scheduler sched(hosts(3));
  const auto body = [](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(this_device::id() == 2 ? 500 : 2000));
  };
  loop_options how;
  how.split = split::dynamic(1);
  constexpr int n = 300;
  const double ideal = n * 2e-3 / 6;
  double best = 1e9;
  for (int round = 0; round < 5 && best > 1.2 * ideal; ++round) {
    const auto began = clock::now();
    parallel_for(sched, n, how, body);
    best = std::min(best, std::chrono::duration<double>(clock::now() - began).count());
  }
  EXPECT_LT(best, 1.3 * ideal);
}

// Loops of several threads, on arrays and on host ranges, with items between them.
TEST(Loops, OfManyThreadsMixWithItemsAndArrays) {
  std::mt19937_64 seeds(stress_seed());
  scheduler sched(hosts(3));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sched, t, seed = seeds()] {
      std::mt19937_64 draw(seed);
      distributed_array<std::int64_t> a(sched, 700 + 100 * t, {.halo = 1}),
          b(sched, 700 + 100 * t, {.halo = 1});
      replicated<std::int64_t> sum(sched, 0);
      const std::int64_t n = a.size();
      std::vector<std::int64_t> expected(static_cast<std::size_t>(n), 1);
      a.fill(1);
      for (int round = 0; round < 30; ++round) {
        switch (draw() % 4) {
          case 0: {
            (void)parallel_for_async(
                sched, n,
                [n](std::int64_t i, view<const std::int64_t> x, view<std::int64_t> y) {
                  y[i] = (x[i] + (i + 1 < n ? x[i + 1] : 0)) % 10007;
                },
                with_halo(a), out(b));
            std::swap(a, b);
            for (std::size_t i = 0; i < expected.size(); ++i) {
              expected[i] = (expected[i] + (i + 1 < expected.size() ? expected[i + 1] : 0)) % 10007;
            }
            break;
          }
          case 1: {
            (void)parallel_reduce_async(
                sched, n, std::int64_t{0}, std::plus<>(),
                [](std::int64_t i, view<const std::int64_t> x) { return x[i]; }, in(a), out(sum));
            (void)parallel_for_async(
                sched, n,
                [](std::int64_t i, view<std::int64_t> x, view<const std::int64_t> s) {
                  x[i] = (x[i] + s[0]) % 10007;
                },
                inout(a), in(sum));
            std::int64_t total = 0;
            for (const auto x : expected) total += x;
            for (auto& x : expected) x = (x + total) % 10007;
            break;
          }
          case 2: {
            std::vector<std::int64_t> copy(expected);
            parallel_for(
                sched, n, [](std::int64_t, view<std::int64_t>) {}, inout(copy));
            EXPECT_EQ(copy, expected);
            break;
          }
          default:
            (void)sched.submit([] { std::this_thread::yield(); });
        }
      }
      EXPECT_EQ(a.gather(), expected);
    });
  }
}

}  // namespace
}  // namespace heddle::test
