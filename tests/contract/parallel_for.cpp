// SPDX-License-Identifier: Apache-2.0
#include "heddle/parallel_for.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stop_token>
#include <thread>
#include <tuple>
#include <vector>

#include <tbb/parallel_for.h>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/gate.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ParallelFor);

TEST_P(ParallelFor, DoesEveryIndexOnceForEverySplitAndNumberOfDevices) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const std::int64_t n : {1, 2, 63, 64, 1001, 40961}) {
      for (const auto& how : all_splits(sched, n)) {
        std::vector<int> calls(static_cast<std::size_t>(n), 0);
        parallel_for(
            sched, n, how, [](std::int64_t i, view<int> c) { c[i] += static_cast<int>(i) + 1; },
            inout(calls));
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(calls[static_cast<std::size_t>(i)], i + 1) << "of " << n;
      }
    }
  });
}

TEST_P(ParallelFor, DoesTheSameWithoutBlocking) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    const std::int64_t n = 10007;
    for (const auto& how : all_splits(sched, n)) {
      std::vector<std::int64_t> squares(static_cast<std::size_t>(n));
      auto loop = parallel_for_async(
          sched, n, how, [](std::int64_t i, view<std::int64_t> s) { s[i] = i * i; }, out(squares));
      loop.get();
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
    }
  });
}

TEST_P(ParallelFor, TakesAnyIntegerAndDoesNothingForZero) {
  scheduler sched(options(2));
  std::vector<int> nothing;
  const auto never = [](std::int64_t, view<int>) { ADD_FAILURE(); };
  parallel_for(sched, 0, never, out(nothing));
  parallel_for(sched, std::uint8_t{0}, never, out(nothing));
  parallel_for_async(sched, 0u, never, out(nothing)).get();
  parallel_for(sched, extents{5, 0}, [](std::int64_t, std::int64_t) { ADD_FAILURE(); });
  std::vector<int> ones(200);
  parallel_for(
      sched, std::uint8_t{200}, [](std::int64_t i, view<int> o) { o[i] = 1; }, out(ones));
  EXPECT_EQ(std::accumulate(ones.begin(), ones.end(), 0), 200);
}

TEST_P(ParallelFor, CallsTwoAndThreeDimensionsInCOrder) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const auto& [nz, ny, nx] : {std::tuple{7, 11, 13}, {1, 1, 500}, {97, 1, 1}, {3, 50, 2}}) {
      std::vector<int> volume(static_cast<std::size_t>(nz * ny * nx));
      parallel_for(
          sched, extents{nz, ny, nx},
          [](std::int64_t z, std::int64_t y, std::int64_t x, view<int> v) {
            v(z, y, x) = static_cast<int>(z * 10000 + y * 100 + x);
          },
          out(volume));
      std::vector<int> plane(static_cast<std::size_t>(ny * nx));
      parallel_for(
          sched, extents{ny, nx},
          [](std::int64_t y, std::int64_t x, view<int> v) { v(y, x) = static_cast<int>(y * 100 + x); },
          out(plane));
      std::size_t k = 0;
      for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
          for (int x = 0; x < nx; ++x) ASSERT_EQ(volume[k++], z * 10000 + y * 100 + x);
        }
      }
      k = 0;
      for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) ASSERT_EQ(plane[k++], y * 100 + x);
      }
    }
  });
}

TEST_P(ParallelFor, GivesEveryDeviceWhatItsWeightSays) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for its device");
  scheduler sched(options(3));
  for (const bool even : {true, false}) {
    loop_options how;
    how.split = even ? split::even() : split::weighted({3, 0, 1});
    std::vector<int> who(1200, -1);
    parallel_for(
        sched, who.size(), how, [](std::int64_t i, view<int> w) { w[i] = this_device::id(); }, out(who));
    const std::vector<int> shares = even ? std::vector{400, 400, 400} : std::vector{900, 0, 300};
    for (int id = 0; id < 3; ++id)
      EXPECT_EQ(std::count(who.begin(), who.end(), id), shares[static_cast<std::size_t>(id)]);
  }
}

TEST_P(ParallelFor, ActsForADeviceInEveryBodyAndBelow) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for its device");
  scheduler sched(options(2));
  std::atomic<int> wrong{0};
  for (const std::int64_t n : {3, 2000}) {
    parallel_for(sched, n, [&](std::int64_t) {
      const int id = this_device::id();
      tbb::parallel_for(0, 4, [&](int) { wrong += this_device::try_id() != id; });
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(this_device::try_id(), std::nullopt) << "the calling thread is what it was";
}

TEST_P(ParallelFor, ActsForTheDeviceThatItsCallerActsFor) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for its device");
  scheduler sched(options(3));
  const auto ids_of = [&] {
    std::vector<int> who(4);
    parallel_for(
        sched, who.size(), [](std::int64_t i, view<int> w) { w[i] = this_device::id(); }, out(who));
    return std::set<int>(who.begin(), who.end());
  };
  ids_of();  // from now on the body is known to be short
  {
    const device_guard guard(sched, 2);
    EXPECT_EQ(ids_of(), std::set<int>{2});
    std::atomic<int> wrong{0};
    parallel_for(sched, 1, [&](std::int64_t) {
      tbb::parallel_for(0, 4, [&](int) { wrong += this_device::try_id() != 2; });
    });
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(as_device(sched, 1, ids_of), std::set<int>{1});
  EXPECT_EQ(sched.submit(ids_of, route::on(1)).get(), std::set<int>{1});
}

TEST_P(ParallelFor, LeavesDisabledDevicesOut) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for its device");
  scheduler sched(options(3));
  sched.disable(1);
  for (const auto& how : {loop_options(), loop_options{split::even()}, loop_options{split::dynamic(10)}}) {
    std::vector<int> who(3000);
    parallel_for(
        sched, who.size(), how, [](std::int64_t i, view<int> w) { w[i] = this_device::id(); }, out(who));
    EXPECT_EQ(std::count(who.begin(), who.end(), 1), 0);
  }
}

// A device takes its own part from the front, so what it does first tells how the loop was divided.
TEST_P(ParallelFor, FollowsTheSpeedsOfItsDevices) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for its device");
  if (describe_machine().cores < 2) GTEST_SKIP() << "one core, so that such loops use one device";
  scheduler sched(options(2));
  constexpr std::int64_t n = 2000;
  std::atomic<int> slow{1};
  const auto border = [&] {
    std::atomic<std::int64_t> first{n};  // of the second device
    parallel_for(sched, n, [&](std::int64_t i) {
      const int id = this_device::id();
      std::int64_t none = n;
      if (id == 1) first.compare_exchange_strong(none, i);
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(id == slow ? 40 : 2);
      while (std::chrono::steady_clock::now() < end) continue;
    });
    return first.load();
  };
  const auto within_some_calls = [](auto condition) {
    for (int call = 0; call < 300; ++call) {
      if (condition()) return true;
    }
    return false;
  };
  EXPECT_TRUE(within_some_calls([&] {
    const std::int64_t found = border();
    return found > 3 * n / 4 && found < n;
  })) << "the second one is slow";
  slow = 0;
  EXPECT_TRUE(within_some_calls([&] { return border() < n / 4; })) << "and now the first one";
}

TEST_P(ParallelFor, RunsInsideItems) {
  scheduler sched(options(3));
  std::vector<std::vector<int>> all(6, std::vector<int>(5000));
  std::vector<future<void>> items;
  for (auto& each : all) {
    items.push_back(sched.submit([&sched, &each] {
      parallel_for(
          sched, each.size(), [](std::int64_t i, view<int> v) { v[i] = static_cast<int>(i); }, out(each));
    }));
  }
  for (auto& each : items) each.get();
  for (const auto& each : all) {
    for (std::size_t i = 0; i < each.size(); ++i) ASSERT_EQ(each[i], static_cast<int>(i));
  }
}

TEST_P(ParallelFor, RunsForManyCallersAtOnce) {
  scheduler sched(options(2));
  std::vector<std::vector<int>> all(4, std::vector<int>(20000));
  {
    std::vector<std::jthread> callers;
    for (auto& each : all) {
      callers.emplace_back([&sched, &each] {
        for (int round = 0; round < 10; ++round) {
          parallel_for(
              sched, each.size(), [](std::int64_t i, view<int> v) { v[i] += static_cast<int>(i); },
              inout(each));
        }
      });
    }
  }
  for (const auto& each : all) {
    for (std::size_t i = 0; i < each.size(); ++i) ASSERT_EQ(each[i], static_cast<int>(10 * i));
  }
}

// The device that would have half of it is busy, and only the loop's caller can let it go on.
TEST_P(ParallelFor, EndsWhileADeviceIsBusyWithSomethingElse) {
  HEDDLE_ON_HOST_DEVICES_ONLY("a GPU's loop needs its thread");
  scheduler sched(options(2));
  for (int id = 0; id < 2; ++id) {
    const occupied_device busy(sched, id);
    for (auto& how : {loop_options(), loop_options{split::even()}, loop_options{split::dynamic(100)}}) {
      std::vector<int> v(100000);
      parallel_for(
          sched, v.size(), how, [](std::int64_t i, view<int> w) { w[i] = static_cast<int>(i); }, out(v));
      for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
    }
  }
}

TEST_P(ParallelFor, WaitsWhereAFutureOverBorrowedMemoryIsDropped) {
  scheduler sched(options(2));
  for (int round = 0; round < 20; ++round) {
    auto memory = std::make_unique<std::vector<int>>(30000);
    {
      auto dropped = parallel_for_async(
          sched, memory->size(), [](std::int64_t i, view<int> v) { v[i] = static_cast<int>(i); },
          out(*memory));
    }
    for (std::size_t i = 0; i < memory->size(); ++i) ASSERT_EQ((*memory)[i], static_cast<int>(i));
  }
}

TEST_P(ParallelFor, ContinuesWithThen) {
  scheduler sched(options(2));
  std::vector<int> v(1000);
  auto sum = parallel_for_async(
                 sched, v.size(), [](std::int64_t i, view<int> w) { w[i] = static_cast<int>(i); }, out(v))
                 .then([&v] { return std::accumulate(v.begin(), v.end(), 0); });
  EXPECT_EQ(sum.get(), 499500);
}

TEST_P(ParallelFor, DestroysItsBody) {
  {
    scheduler sched(options(2));
    parallel_for(sched, 1000, [alive = counted()](std::int64_t) {});
    parallel_for_async(sched, 1000, [alive = counted()](std::int64_t) {}).get();
    EXPECT_EQ(counted::living(), 0);
  }
}

TEST_P(ParallelFor, IsCountedByTheEndOfItsScheduler) {
  std::vector<int> v(5000);
  {
    scheduler sched(options(2));
    (void)sched.submit([&] {
      parallel_for(
          sched, v.size(), [](std::int64_t i, view<int> w) { w[i] = 1 + static_cast<int>(i % 2); }, out(v));
    });
  }
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 7500);
}

TEST_P(ParallelFor, IsRefusedOnceTheSchedulerIsClosed) {
  scheduler sched(options(2));
  sched.close();
  const auto never = [](std::int64_t) { ADD_FAILURE(); };
  EXPECT_THROW(parallel_for(sched, 10, never), scheduler_stopped);
  EXPECT_THROW((void)parallel_for_async(sched, 10, never), scheduler_stopped);
}

// The rate of a body is learned by its type, which need not cost the same each time.
TEST_P(ParallelFor, StopsThoughItWasBelievedToBeShort) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  scheduler sched(options(2));
  std::atomic<bool> slow{false};
  std::atomic<int> calls{0};
  std::stop_source stop;
  loop_options how;
  how.stop = stop.get_token();
  const auto body = [&](std::int64_t) {
    if (!slow) return;
    if (++calls == 3) stop.request_stop();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  for (int k = 0; k < 41; ++k) parallel_for(sched, 1000, how, body);
  slow = true;
  EXPECT_THROW(parallel_for(sched, 1000, how, body), cancelled);
  EXPECT_LT(calls, 500);
}

// The sixteenth that goes first says what the rest costs, however much the calls before it varied. That the
// token makes it go first each time is what fixes the order here. A call that was held up may have shaken the
// belief that the loop is short, and then nothing goes first: a few schedulers get a try each.
TEST_P(ParallelFor, SharesTheRestOnceItsBeginWasNotAsShortAsBelieved) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  if (describe_machine().cores < 2) GTEST_SKIP() << "one core";
  const std::stop_source stop;
  loop_options how;
  how.stop = stop.get_token();
  int turns = 0;
  bool slow = false;
  std::mutex mutex;
  std::condition_variable came;
  std::set<int> ids;
  std::atomic<bool> given_up{false};
  const auto body = [&](std::int64_t i) {
    if (!slow) {
      for (int k = 0; k < turns; ++k) __asm__ volatile("");
      return;
    }
    if (i < 40) {  // of which the first 12 go first
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
      while (std::chrono::steady_clock::now() < until) {
      }
      return;
    }
    std::unique_lock lock(mutex);
    ids.insert(this_device::id());
    came.notify_all();
    if (given_up || came.wait_for(lock, std::chrono::seconds(2), [&] { return ids.size() == 2; })) return;
    given_up = true;
  };
  for (int tries = 0; tries < 5 && ids.size() < 2; ++tries) {
    scheduler sched(options(2));
    slow = given_up = false;
    ids.clear();
    for (int k = 0; k < 40; ++k) {
      turns = k % 2 == 0 ? 8 : 0;  // now slower than believed, now faster
      parallel_for(sched, 200, how, body);
    }
    slow = true;
    parallel_for(sched, 200, how, body);
  }
  EXPECT_EQ(ids, (std::set<int>{0, 1}));
}

TEST_P(ParallelFor, IsSharedAgainSoonAfterItIsNotAsShortAsBelieved) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies that the host sees");
  if (describe_machine().cores < 2) GTEST_SKIP() << "one core";
  scheduler sched(options(2));
  std::chrono::nanoseconds cost{0};
  std::mutex mutex;
  std::set<int> ids;
  const auto body = [&](std::int64_t) {
    const auto until = std::chrono::steady_clock::now() + cost;
    while (std::chrono::steady_clock::now() < until) {
    }
    if (cost < std::chrono::microseconds(1)) return;
    const std::lock_guard lock(mutex);
    ids.insert(this_device::id());
  };
  for (int k = 0; k < 200; ++k) {
    cost = std::chrono::nanoseconds(k % 7);
    parallel_for(sched, 500, body);
  }
  cost = std::chrono::microseconds(100);
  int calls = 0;
  for (; calls < 8 && ids.size() < 2; ++calls) {
    ids.clear();
    parallel_for(sched, 500, body);
  }
  EXPECT_EQ(ids, (std::set<int>{0, 1})) << "after " << calls << " calls";
}

}  // namespace
}  // namespace heddle::test
