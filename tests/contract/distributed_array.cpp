// SPDX-License-Identifier: Apache-2.0
#include "heddle/distributed_array.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(DistributedArray);

std::vector<int> counted_up(std::int64_t n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST_P(DistributedArray, ScattersGathersAndFills) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const std::int64_t n : {0, 1, 2, 1000, 5000}) {
      distributed_array<int> a(sched, n);
      EXPECT_EQ(a.size(), n);
      const auto source = counted_up(n);
      a.scatter(source);
      EXPECT_EQ(a.gather(), source);
      a.fill(7);
      EXPECT_EQ(a.gather(), std::vector<int>(static_cast<std::size_t>(n), 7));
    }
  });
}

TEST_P(DistributedArray, HasABlockOnEveryDeviceAndNoGaps) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const distributed_array<int> a(sched, extents{100, 7});
    std::int64_t at = 0;
    for (std::size_t k = 0; k < sched.devices().size(); ++k) {
      const auto block = a.block(k);
      EXPECT_EQ(block.begin, at);
      EXPECT_GT(block.end, block.begin);
      EXPECT_EQ(block.begin % 7, 0) << "whole rows";
      at = block.end;
    }
    EXPECT_EQ(at, 700);
  });
}

TEST_P(DistributedArray, LiesAsItsWeightsSay) {
  scheduler sched(options(3));
  const distributed_array<double> a(sched, 1000, {.weights = {1, 0, 4}});
  EXPECT_EQ(a.block(0), (index_range{0, 200}));
  EXPECT_EQ(a.block(1), index_range());
  EXPECT_EQ(a.block(2), (index_range{200, 1000}));
}

TEST_P(DistributedArray, IsWrittenAndReadByLoopsInTheOrderOfTheCalls) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const std::int64_t n = 3001;
    distributed_array<std::int64_t> a(sched, n), b(sched, n);
    a.fill(1);
    std::vector<future<void>> loops;
    for (std::int64_t round = 0; round < 20; ++round) {
      loops.push_back(parallel_for_async(
          sched, n,
          [](std::int64_t i, std::int64_t r, view<const std::int64_t> x, view<std::int64_t> y) {
            y[i] = x[i] * 3 + i + r;
          },
          round, in(a), out(b)));
      loops.push_back(parallel_for_async(
          sched, n,
          [](std::int64_t i, view<std::int64_t> x, view<const std::int64_t> y) { x[i] = y[i] % 1000; },
          inout(a), in(b)));
    }
    const auto found = a.gather();
    for (auto& each : loops) each.get();
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t x = 1;
      for (std::int64_t round = 0; round < 20; ++round) x = (x * 3 + i + round) % 1000;
      ASSERT_EQ(found[static_cast<std::size_t>(i)], x) << i;
    }
  });
}

TEST_P(DistributedArray, MixesWithHostRangesAndValues) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const auto x = counted_up(2000);
    std::vector<int> y(2000);
    distributed_array<int> a(sched, 2000);
    a.fill(5);
    parallel_for(
        sched, 2000,
        [](std::int64_t i, view<int> v, view<const int> from, view<int> to, int k) {
          v[i] += from[i];
          to[i] = k * v[i];
        },
        inout(a), in(x), out(y), 2);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(y[static_cast<std::size_t>(i)], 2 * (i + 5));
  });
}

// Every device reads what its neighbours wrote in the step before, with no host in between.
TEST_P(DistributedArray, FetchesHalosWhereTheyAreStale) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    constexpr std::int64_t ny = 64, nx = 9;
    distributed_array<std::int64_t> a(sched, extents{ny, nx}, {.halo = 1}),
        b(sched, extents{ny, nx}, {.halo = 1});
    std::vector<std::int64_t> expected(ny * nx);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::int64_t>(i * i % 101);
    a.scatter(expected);
    const auto smooth = [](std::int64_t y, std::int64_t x, view<const std::int64_t> from,
                           view<std::int64_t> to) {
      const std::int64_t above = y > 0 ? from(y - 1, x) : 0;
      const std::int64_t below = y < ny - 1 ? from(y + 1, x) : 0;
      to(y, x) = (above + below + from(y, x)) % 1009;
    };
    std::vector<future<void>> loops;
    for (int round = 0; round < 30; ++round) {
      loops.push_back(parallel_for_async(sched, extents{ny, nx}, smooth, with_halo(a), out(b)));
      std::swap(a, b);
      const auto before = expected;
      for (std::int64_t y = 0; y < ny; ++y) {
        for (std::int64_t x = 0; x < nx; ++x) {
          const auto at = [&](std::int64_t row) {
            return row < 0 || row >= ny ? 0 : before[static_cast<std::size_t>(row * nx + x)];
          };
          expected[static_cast<std::size_t>(y * nx + x)] = (at(y - 1) + at(y + 1) + at(y)) % 1009;
        }
      }
    }
    EXPECT_EQ(a.gather(), expected);
    for (auto& each : loops) each.get();
  });
}

// The first device fetches little and is done at once; the second one fetches all of the first one's block,
// the end of it last, which is what the next loop writes first.
TEST_P(DistributedArray, IsNotWrittenWhileANeighbourFetchesItsHalo) {
  scheduler sched(options(2));
  const std::int64_t n = std::int64_t{1} << 22;
  distributed_array<int> a(sched, n, {.halo = n, .weights = {7, 1}}), last(sched, n, {.weights = {7, 1}});
  const std::int64_t border = a.block(0).end;
  for (int round = 1; round <= 3; ++round) {
    a.fill(round);
    auto reading = for_each_chunk_async(
        sched, n,
        [border](device_context& d, index_range part, view<const int> x, view<int> y) {
          if (part.begin == border) d.launch(1, [=](std::int64_t) { y[border] = x[border - 1]; });
        },
        with_halo(a), out(last));
    auto writing = parallel_for_async(
        sched, n, [border](std::int64_t i, view<int> x) { x[i < border ? border - 1 - i : i] = -1; }, out(a));
    EXPECT_EQ(last.gather()[static_cast<std::size_t>(border)], round);
    reading.get();
    writing.get();
  }
}

TEST_P(DistributedArray, HoldsHalosWiderThanItsBlocks) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    distributed_array<int> a(sched, 10, {.halo = 4});
    distributed_array<int> sums(sched, 10);
    a.scatter(counted_up(10));
    parallel_for(
        sched, 10,
        [](std::int64_t i, view<const int> x, view<int> s) {
          s[i] = 0;
          for (std::int64_t k = i < 4 ? 0 : i - 4; k < 10 && k <= i + 4; ++k) s[i] += x[k];
        },
        with_halo(a), out(sums));
    const auto found = sums.gather();
    for (int i = 0; i < 10; ++i) {
      int expected = 0;
      for (int k = std::max(0, i - 4); k < 10 && k <= i + 4; ++k) expected += k;
      EXPECT_EQ(found[static_cast<std::size_t>(i)], expected);
    }
  });
}

TEST_P(DistributedArray, IsForLibrariesByChunks) {
  scheduler sched(options(3));
  distributed_array<int> a(sched, 999);
  for_each_chunk(
      sched, 999,
      [](device_context& d, index_range part, view<int> v) {
        EXPECT_EQ(v.range(), part);
        d.launch(part.size(),
                 [p = v.local(), part](std::int64_t k) { p[k] = static_cast<int>(part.begin + k); });
      },
      out(a));
  EXPECT_EQ(a.gather(), counted_up(999));
}

TEST_P(DistributedArray, IsUndefinedByTheFirstErrorUntilItIsFilled) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(3));
  distributed_array<int> a(sched, 100), b(sched, 100);
  a.fill(0);
  b.fill(0);
  auto failing = parallel_for_async(
      sched, 100, [](std::int64_t i, view<int> v) { v[i] = i == 70 ? throw std::string("first") : 1; },
      inout(a));
  auto reading = parallel_for_async(
      sched, 100, [](std::int64_t i, view<const int> x, view<int> y) { y[i] = x[i]; }, in(a), inout(b));
  EXPECT_THROW(failing.get(), std::string);
  EXPECT_THROW(reading.get(), std::string);
  EXPECT_THROW((void)a.gather(), std::string);
  EXPECT_THROW((void)b.gather(), std::string) << "what was written from it";
  a.fill(3);
  b.scatter(counted_up(100));
  EXPECT_EQ(a.gather(), std::vector<int>(100, 3));
  EXPECT_EQ(b.gather(), counted_up(100));
}

// The second device finds out first.
TEST_P(DistributedArray, RunsNoBodyOnWhatIsUndefined) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100), b(sched, 100);
  a.fill(0);
  EXPECT_THROW(parallel_for(
                   sched, 100, [](std::int64_t, view<int>) { throw std::string("first"); }, out(a)),
               std::string);
  occupied_device busy(sched, 0);
  auto reading = parallel_for_async(
      sched, 100, [](std::int64_t, view<const int>, view<int>) { ADD_FAILURE(); }, in(a), out(b));
  sched.submit([](device_context& c) { c.enqueue([] {}); }, route::on(1).stream(0)).get();
  busy.release();
  EXPECT_THROW(reading.get(), std::string);
}

TEST_P(DistributedArray, IsUndefinedByALoopThatItsTokenStopped) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(7);
  std::stop_source source;
  source.request_stop();
  loop_options how;
  how.stop = source.get_token();
  EXPECT_THROW(parallel_for(
                   sched, 100, how, [](std::int64_t i, view<int> v) { v[i] = 1; }, out(a)),
               cancelled);
  EXPECT_THROW((void)a.gather(), cancelled);
}

TEST_P(DistributedArray, ReportsOneErrorOfALoopOnce) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  auto asked = options(3);
  const error_log log;
  asked.on_error = log;
  scheduler sched(std::move(asked));
  distributed_array<int> a(sched, 3000);
  a.fill(7);
  for (int round = 0; round < 20; ++round) {
    a.fill(7);
    EXPECT_THROW(
        parallel_for(
            sched, 3000,
            [](std::int64_t i, view<int> v) { v[i] = i == 2000 ? throw std::string("once") : 1; }, inout(a)),
        std::string);
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(DistributedArray, IsUndefinedByACancelledLoop) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(0);
  {
    const occupied_device busy(sched, 0);
    auto loop = parallel_for_async(
        sched, 100, [](std::int64_t i, view<int> v) { v[i] = 1; }, inout(a));
    sched.cancel();
    // The gate opens at the end of this scope.
  }
  EXPECT_THROW((void)a.gather(), cancelled);
  a.fill(2);
  EXPECT_EQ(a.gather(), std::vector<int>(100, 2));
}

TEST_P(DistributedArray, RefusesWhatDoesNotFit) {
  scheduler sched(options(2)), other(options(2));
  distributed_array<int> a(sched, 100), shorter(sched, 99), elsewhere(other, 100);
  const distributed_array<int> uneven(sched, 100, {.weights = {1, 3}});
  const auto never = [](std::int64_t, view<int>) { ADD_FAILURE(); };
  const auto never2 = [](std::int64_t, view<const int>, view<int>) { ADD_FAILURE(); };
  EXPECT_THROW(parallel_for(sched, 99, never, out(a)), invalid_option);
  EXPECT_THROW(parallel_for(sched, 100, never2, in(uneven), out(a)), invalid_option);
  EXPECT_THROW(parallel_for(sched, 100, never, out(elsewhere)), invalid_option);
  EXPECT_THROW(a.scatter(counted_up(99)), invalid_option);
  EXPECT_THROW((distributed_array<int>(sched, 10, {.halo = -1})), invalid_option);
  EXPECT_THROW((distributed_array<int>(sched, 10, {.weights = {1, 2, 3}})), invalid_option);
  EXPECT_THROW((distributed_array<int>(sched, -10)), invalid_option);
}

TEST_P(DistributedArray, IsWorkedOnByAllCoresOfItsDevice) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot tell");
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  scheduler sched(options(1));
  distributed_array<int> a(sched, 64);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const bool several = eventually([&] {
    parallel_for(
        sched, 64,
        [&](std::int64_t i, view<int> v) {
          v[i] = 1;
          std::this_thread::yield();
          const std::lock_guard lock(mutex);
          threads.insert(std::this_thread::get_id());
        },
        out(a));
    return threads.size() > 1;
  });
  EXPECT_TRUE(several);
}

// The loop's rows are not the array's.
TEST_P(DistributedArray, IsReducedInLoopsOfOtherShapes) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    constexpr std::int64_t ny = 90, nx = 31, n = ny * nx;
    const auto plus = [](std::int64_t a, std::int64_t b) { return a + b; };
    distributed_array<int> rows(sched, extents{ny, nx}), flat(sched, n);
    rows.scatter(counted_up(n));
    flat.scatter(counted_up(n));
    EXPECT_EQ(parallel_reduce(
                  sched, n, std::int64_t{0}, plus,
                  [](std::int64_t i, view<const int> x) { return std::int64_t{x[i]}; }, in(rows)),
              n * (n - 1) / 2);
    EXPECT_EQ(parallel_reduce(
                  sched, extents{ny, nx}, std::int64_t{0}, plus,
                  [](std::int64_t y, std::int64_t x, view<const int> v) { return std::int64_t{v(y, x)}; },
                  in(flat)),
              n * (n - 1) / 2);
  });
}

TEST_P(DistributedArray, TellsThatItWasMovedFrom) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 100);
  a.fill(1);
  const distributed_array<int> b = std::move(a);
  EXPECT_EQ(b.gather(), std::vector<int>(100, 1));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(a.size(), 0);
  EXPECT_THROW((void)a.gather(), invalid_option);
  EXPECT_THROW(a.scatter(std::vector<int>()), invalid_option);
  EXPECT_THROW(a.fill(1), invalid_option);
  EXPECT_THROW(a.exchange_halos(), invalid_option);
  EXPECT_THROW((void)a.block(0), invalid_option);
  EXPECT_THROW(parallel_for(
                   sched, 100, [](std::int64_t, view<int>) { ADD_FAILURE(); }, inout(a)),
               invalid_option);
  EXPECT_THROW(inclusive_scan(sched, in(b), out(a), 0, std::plus<int>()), invalid_option);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_P(DistributedArray, OutlivesItsSchedulerForNothingButItsEnd) {
  auto sched = std::make_unique<scheduler>(options(2));
  distributed_array<int> a(*sched, 100);
  a.fill(1);
  sched.reset();
  EXPECT_THROW((void)a.gather(), scheduler_stopped);
}

TEST_P(DistributedArray, LoopsMayBeWaitedForInsideItems) {
  scheduler sched(options(2));
  distributed_array<int> a(sched, 500, {.halo = 1}), b(sched, 500, {.halo = 1});
  a.fill(1);
  sched
      .submit([&] {
        for (int round = 0; round < 5; ++round) {
          parallel_for(
              sched, 500,
              [](std::int64_t i, view<const int> x, view<int> y) { y[i] = x[i] + x[i < 499 ? i + 1 : i]; },
              with_halo(a), out(b));
          std::swap(a, b);
        }
      })
      .get();
  EXPECT_EQ(a.gather(), std::vector<int>(500, 32));
}

}  // namespace
}  // namespace heddle::test
