// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Launch);
HEDDLE_CONTRACT_SUITE(Copy);
HEDDLE_CONTRACT_SUITE(Enqueue);
HEDDLE_CONTRACT_SUITE(Keep);
HEDDLE_CONTRACT_SUITE(Scratch);

TEST_P(Launch, CallsEachIndexOfOneDimensionOnce) {
  scheduler sched(options(2));
  for (const int n : {0, 1, 2, 3, 1000, 4097}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(n));
    sched
        .submit([&](device_context& c) {
          c.launch(n, [&hits](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
        })
        .get();
    for (const auto& each : hits) ASSERT_EQ(each, 1);
  }
}

TEST_P(Launch, CallsEachIndexOfTwoDimensionsOnce) {
  scheduler sched(options(2));
  constexpr int ny = 37;
  constexpr int nx = 53;
  std::vector<std::atomic<int>> hits(ny * nx);
  sched
      .submit([&](device_context& c) {
        c.launch(extents{ny, nx}, [&hits, ny, nx](std::int64_t y, std::int64_t x) {
          ASSERT_TRUE(y >= 0 && y < ny && x >= 0 && x < nx);
          ++hits[static_cast<std::size_t>(y * nx + x)];
        });
      })
      .get();
  for (const auto& each : hits) ASSERT_EQ(each, 1);
}

TEST_P(Launch, CallsEachIndexOfThreeDimensionsOnce) {
  scheduler sched(options(2));
  for (const auto& [nz, ny, nx] : {std::array{3, 5, 7}, std::array{1, 1, 900}, std::array{900, 1, 1}}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(nz * ny * nx));
    sched
        .submit([&, sizes = extents{nz, ny, nx}](device_context& c) {
          c.launch(sizes, [&hits, sizes](std::int64_t z, std::int64_t y, std::int64_t x) {
            ++hits[static_cast<std::size_t>((z * sizes[1] + y) * sizes[2] + x)];
          });
        })
        .get();
    for (const auto& each : hits) ASSERT_EQ(each, 1);
  }
}

TEST_P(Launch, OfAnEmptyDimensionCallsNothing) {
  scheduler sched(options(2));
  sched
      .submit([](device_context& c) {
        c.launch(extents{0, 5}, [](std::int64_t, std::int64_t) { FAIL(); });
        c.launch(extents{5, 0}, [](std::int64_t, std::int64_t) { FAIL(); });
        c.launch(extents{5, 5, 0}, [](std::int64_t, std::int64_t, std::int64_t) { FAIL(); });
      })
      .get();
}

TEST_P(Launch, RefusesSizesThatAreNone) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    const auto nothing = [](std::int64_t) { FAIL(); };
    EXPECT_THROW(c.launch(-1, nothing), invalid_option);
    EXPECT_THROW(c.launch(std::numeric_limits<std::uint64_t>::max(), nothing), invalid_option);
  });
  f.get();
  EXPECT_THROW((extents{std::int64_t{1} << 40, std::int64_t{1} << 40}), invalid_option);
  EXPECT_THROW((extents{2, -2}), invalid_option);
  EXPECT_THROW((extents{-2, -2}), invalid_option);
  EXPECT_EQ((extents{std::int64_t{1} << 40, 0, std::int64_t{1} << 40}).size(), 0);
}

TEST_P(Launch, PassesArgumentsByCopy) {
  scheduler sched(options(2));
  std::atomic<int> sum{0};
  sched
      .submit([&sum](device_context& c) {
        int factor = 3;
        c.launch(
            10,
            [&sum](std::int64_t i, int f, const std::string& s) {
              sum += static_cast<int>(i) * f + static_cast<int>(s.size());
            },
            factor, std::string("ab"));
        factor = 1000;
      })
      .get();
  EXPECT_EQ(sum, 45 * 3 + 20);
}

TEST_P(Launch, RunsOnItsOwnDevice) {
  scheduler sched(options(2));
  std::atomic<int> wrong{0};
  for (auto& each : sched.broadcast([&wrong](device_context& c) {
         c.launch(500, [&wrong, id = c.id()](std::int64_t) {
           if (this_device::try_id() != id) ++wrong;
         });
       })) {
    each.get();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Launch, FailsTheItemWithWhatItsBodyThrows) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    c.launch(100, [](std::int64_t i) {
      if (i == 50) throw std::out_of_range("fifty");
    });
  });
  EXPECT_THROW(f.get(), std::out_of_range);
}

TEST_P(Copy, MovesElementsInStreamOrder) {
  scheduler sched(options(2));
  std::vector<int> from(1000);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> between(1000);
  std::vector<int> to(1000);
  sched
      .submit([&](device_context& c) {
        c.copy(between, from);
        c.launch(1000, [&between](std::int64_t i) { between[static_cast<std::size_t>(i)] *= 2; });
        c.copy(std::span(to), between);
      })
      .get();
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(to[static_cast<std::size_t>(k)], 2 * k);
}

TEST_P(Copy, RefusesDifferentSizes) {
  scheduler sched(options(2));
  std::vector<int> small(3);
  const std::vector<int> large(4);
  auto f = sched.submit([&](device_context& c) { c.copy(small, large); });
  EXPECT_THROW(f.get(), invalid_option);
}

TEST_P(Copy, OfNothingIsNothing) {
  scheduler sched(options(2));
  std::vector<int> none;
  sched.submit([&](device_context& c) { c.copy(none, std::span<const int>()); }).get();
}

template <class Target, class Source>
concept copyable_to = requires(const stream& s, Target&& to, Source&& from) {
  s.copy(std::forward<Target>(to), std::forward<Source>(from));
};

TEST_P(Copy, TakesNoTemporaries) {
  static_assert(copyable_to<std::vector<int>&, const std::vector<int>&>);
  static_assert(copyable_to<std::span<int>, std::span<const int>>);
  static_assert(!copyable_to<std::vector<int>, std::vector<int>&>);
  static_assert(!copyable_to<std::vector<int>&, std::vector<int>>);
}

TEST_P(Enqueue, RunsInTheOrderOfTheCallsOnTheDeviceThread) {
  scheduler sched(options(2));
  std::vector<int> order;
  const auto device_thread = sched.submit([] { return std::this_thread::get_id(); }, route::on(0)).get();
  sched
      .submit(
          [&](device_context& c) {
            for (int k = 0; k < 100; ++k) {
              c.enqueue([&, k] {
                EXPECT_EQ(std::this_thread::get_id(), device_thread);
                EXPECT_EQ(this_device::id(), 0);
                order.push_back(k);
              });
            }
          },
          route::on(0))
      .get();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Enqueue, TakesMoveOnlyFunctions) {
  scheduler sched(options(2));
  int seen = 0;
  sched.submit([&](device_context& c) { c.enqueue([&seen, p = std::make_unique<int>(3)] { seen = *p; }); })
      .get();
  EXPECT_EQ(seen, 3);
}

TEST_P(Enqueue, IsDoneWhenTheFutureIsReady) {
  scheduler sched(options(2));
  for (int round = 0; round < 100; ++round) {
    int value = 0;
    auto f = sched.submit([&value](device_context& c) {
      for (int k = 0; k < 10; ++k) c.enqueue([&value] { ++value; });
    });
    f.wait();
    ASSERT_EQ(value, 10);
  }
}

TEST_P(Enqueue, ThatThrowsFailsItsOwnItemOnly) {
  scheduler sched(options(1));
  std::vector<future<void>> all;
  for (int k = 0; k < 50; ++k) {
    all.push_back(sched.submit(
        [k](device_context& c) {
          c.enqueue([k] {
            if (k % 5 == 0) throw k;
          });
        },
        route::on(0).stream(k % 2)));
  }
  for (int k = 0; k < 50; ++k) {
    if (k % 5 != 0) {
      EXPECT_NO_THROW(all[static_cast<std::size_t>(k)].get()) << k;
      continue;
    }
    try {
      all[static_cast<std::size_t>(k)].get();
      ADD_FAILURE() << k;
    } catch (int value) {
      EXPECT_EQ(value, k);
    }
  }
}

TEST_P(Enqueue, LeavesOutTheRestOfAnItemThatFailed) {
  scheduler sched(options(1));
  std::atomic<int> later{0};
  auto f = sched.submit([&](device_context& c) {
    c.enqueue([] { throw 1; });
    c.enqueue([&] { ++later; });
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_EQ(later, 0);
}

TEST_P(Enqueue, DestroysWhatItNeverRan) {
  scheduler sched(options(1));
  auto f = sched.submit([](device_context& c) {
    c.enqueue([] { throw 1; });
    c.enqueue([held = counted()] { (void)held; });
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(Enqueue, OfACallableThatThrowsStillRunsBeforeItsCapturesDie) {
  scheduler sched(options(1));
  bool alive = false;
  auto f = sched.submit([&alive, value = std::make_shared<int>(7)](device_context& c) {
    c.enqueue([&alive, weak = std::weak_ptr<int>(value)] { alive = !weak.expired(); });
    throw 1;
  });
  EXPECT_THROW(f.get(), int);
  EXPECT_TRUE(alive);
}

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
  chosen.host.memory_bytes = 1 << 20;
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
  chosen.host.memory_bytes = 1 << 16;
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
  chosen.host.memory_bytes = 1 << 16;
  scheduler sched(chosen);
  for (auto& each : sched.broadcast([](device_context& c) { (void)c.scratch<char>(1 << 16); })) each.get();
  EXPECT_EQ(sched.devices()[0].memory_bytes, std::size_t{1} << 16);
}

TEST_P(Scratch, RefusesACountWhoseBytesOverflow) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [](device_context& c) { (void)c.scratch<double>(std::numeric_limits<std::size_t>::max() / 4); });
  EXPECT_THROW(f.get(), out_of_device_memory);
}

}  // namespace
}  // namespace heddle::test
