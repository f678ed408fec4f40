// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(LoopErrors);

struct at_index {
  std::int64_t index;  // no std::exception
};

// Source: h2oai/datatable#2521: one thread throws, the rest wait at a barrier for ever.
TEST_P(LoopErrors, OfTheFirstPartByIndexAreThrownAndNoPartRunsOn) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  for_device_counts(GetParam(), [](scheduler& sched) {
    const std::int64_t n = 6000;
    for (const auto& how : all_splits(sched, n)) {
      for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1}) {
        std::atomic<int> running{0};
        const auto body = [&](std::int64_t i) {
          ++running;
          const bool fails = i == bad || i == n - 1;
          --running;
          if (fails) throw at_index{i};
        };
        for (const bool async : {false, true}) {
          try {
            if (async) {
              parallel_for_async(sched, n, how, body).get();
            } else {
              parallel_for(sched, n, how, body);
            }
            FAIL() << "nothing thrown";
          } catch (const at_index& e) {
            EXPECT_EQ(e.index, bad);
          }
          EXPECT_EQ(running, 0);
        }
      }
    }
  });
}

TEST_P(LoopErrors, NobodySeesGoToOnError) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  auto asked = options(2);
  error_log log;
  asked.on_error = log;
  {
    scheduler sched(std::move(asked));
    loop_options halves;
    halves.split = split::even();
    EXPECT_THROW(
        parallel_for(sched, 2, halves, [](std::int64_t i) { throw std::runtime_error(std::to_string(i)); }),
        std::runtime_error);
  }
  // The second index may have been left out, since the first had failed.
  for (const auto& event : log.events()) EXPECT_NE(event.message.find("parallel_for"), std::string::npos);
}

TEST_P(LoopErrors, TellWhichIndicesAreNotDone) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (auto how : all_splits(sched, 3000)) {
      std::vector<index_range> left;
      how.not_done = &left;
      std::vector<char> done(3000, 0);
      EXPECT_THROW(parallel_for(
                       sched, done.size(), how,
                       [](std::int64_t i, view<char> d) {
                         if (i == 1234) throw at_index{i};
                         d[i] = 1;
                       },
                       inout(done)),
                   at_index);
      bool covers_the_bad_one = false;
      std::int64_t before = -1;
      for (const auto& range : left) {
        EXPECT_GT(range.begin, before) << "ascending, apart";
        before = range.end;
        covers_the_bad_one = covers_the_bad_one || (range.begin <= 1234 && 1234 < range.end);
        for (std::int64_t i = range.begin; i < range.end; ++i) done[static_cast<std::size_t>(i)] = 1;
      }
      EXPECT_TRUE(covers_the_bad_one);
      for (std::size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], 1) << i << " is neither done nor told";
      parallel_for(sched, 10, how, [](std::int64_t) {});
      EXPECT_TRUE(left.empty()) << "a loop that ends well leaves nothing";
    }
  });
}

TEST_P(LoopErrors, OfADeviceNameTheIndices) {
  scheduler sched(options(2));
  loop_options halves;
  halves.split = split::even();
  try {
    for_each_chunk(sched, 100, halves, [](device_context& d, index_range part) {
      if (part.begin > 0) throw device_error(d.id(), "a call of a library", "it says no", 42, "no");
    });
    FAIL();
  } catch (const device_error& e) {
    EXPECT_EQ(e.device(), 1);
    EXPECT_EQ(e.operation(), "a call of a library");
    EXPECT_EQ(e.code(), 42);
    EXPECT_NE(std::string(e.what()).find("[50, 100)"), std::string::npos) << e.what();
  }
}

TEST_P(LoopErrors, OfADeviceReachTheFutureToo) {
  scheduler sched(options(2));
  loop_options halves;
  halves.split = split::even();
  auto loop = for_each_chunk_async(sched, 100, halves, [](device_context& d, index_range part) {
    if (part.begin > 0) throw device_error(d.id(), "a call of a library", "it says no");
  });
  try {
    loop.get();
    FAIL() << "nothing thrown";
  } catch (const device_error& e) {
    EXPECT_NE(std::string(e.what()).find("[50, 100)"), std::string::npos) << e.what();
  }
}

TEST_P(LoopErrors, AreThrownOnceNoPartRunsAnyMore) {
  std::atomic<bool> returned{false}, outlived{false};
  {
    scheduler sched(options(2));
    gate other_runs, thrown;
    loop_options halves;
    halves.split = split::even();
    const auto body = [&](device_context&, index_range part) {
      if (part.begin == 0) {
        other_runs.wait();
        thrown.open();
        throw at_index{0};
      }
      other_runs.open();
      thrown.wait();
      // Time enough for a call that does not wait for this part.
      const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (!returned && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      outlived = returned.load();
    };
    EXPECT_THROW(for_each_chunk(sched, 100, halves, std::cref(body)), at_index);
    returned = true;
  }
  EXPECT_FALSE(outlived);
}

TEST_P(LoopErrors, LeaveTheSchedulerFitForTheNextLoop) {
  HEDDLE_ON_HOST_DEVICES_ONLY("bodies on GPUs cannot throw");
  scheduler sched(options(2));
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(parallel_for(sched, 500, [](std::int64_t i) { throw at_index{i}; }), at_index);
    std::atomic<int> runs{0};
    parallel_for(sched, 500, [&](std::int64_t) { ++runs; });
    ASSERT_EQ(runs, 500);
  }
}

TEST_P(LoopErrors, SayThatTheTokenStoppedTheLoop) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (auto how : all_splits(sched, 1000)) {
      std::stop_source source;
      std::vector<index_range> left;
      how.stop = source.get_token();
      how.not_done = &left;
      source.request_stop();
      std::vector<int> v(1000, 0);
      const auto body = [](std::int64_t i, view<int> w) { w[i] = 1; };
      EXPECT_THROW(parallel_for(sched, v.size(), how, body, out(v)), cancelled);
      EXPECT_EQ(left, (std::vector<index_range>{{0, 1000}}));
      EXPECT_THROW(parallel_for_async(sched, v.size(), how, body, out(v)).get(), cancelled);
    }
  });
}

TEST_P(LoopErrors, StopBetweenChunks) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the body asks for the stop");
  scheduler sched(options(2));
  std::stop_source source;
  loop_options how;
  how.split = split::dynamic(10);
  how.stop = source.get_token();
  std::atomic<int> runs{0};
  EXPECT_THROW(parallel_for(sched, 100000, how,
                            [&](std::int64_t) {
                              if (++runs == 100) source.request_stop();
                            }),
               cancelled);
  EXPECT_LT(runs, 1000);
}

TEST_P(LoopErrors, RefuseSplitsThatCannotBe) {
  scheduler sched(options(2));
  const auto never = [](std::int64_t) { ADD_FAILURE(); };
  for (const auto& weights :
       {std::vector<double>{1}, {1, 2, 3}, {0, 0}, {-1, 2}, {1, std::numeric_limits<double>::infinity()}}) {
    loop_options how;
    how.split = split::weighted(weights);
    EXPECT_THROW(parallel_for(sched, 10, how, never), invalid_option);
    EXPECT_THROW((void)parallel_for_async(sched, 10, how, never), invalid_option);
  }
  loop_options how;
  how.split = split::dynamic(-3);
  EXPECT_THROW(parallel_for(sched, 10, how, never), invalid_option);
}

TEST_P(LoopErrors, OnAThreadOfAnArenaAreDeadlocksOrNone) {
  scheduler sched(options(2));
  std::vector<int> v(100000);
  auto item = sched.submit(
      [&] {
        parallel_for(
            sched, v.size(), [](std::int64_t i, view<int> w) { w[i] = static_cast<int>(i); }, out(v));
      },
      route::any().in_arena());
  if (on_host()) {
    item.get();  // on that device alone
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i));
  } else {
    EXPECT_THROW(item.get(), would_deadlock);
  }
}

}  // namespace
}  // namespace heddle::test
