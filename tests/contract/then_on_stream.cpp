// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ThenOnStream);

TEST_P(ThenOnStream, SeesTheValueBeforeTheStreamWorkIsDone) {
  scheduler sched(options(1));
  gate go;
  bool done = false;
  bool done_at_follower = true;
  auto f = sched.submit([&](device_context& c) {
    go.wait();
    c.enqueue([&] { done = true; });
    return std::string("value");
  });
  auto g = f.then_on_stream([&](device_context& c, std::string& s) {
    done_at_follower = done;
    s += "!";
    c.enqueue([] {});
    return s.size();
  });
  EXPECT_FALSE(f.valid());
  go.open();
  EXPECT_EQ(g.get(), 6u);
  EXPECT_TRUE(done);
  EXPECT_EQ(done_at_follower, !deferred());
}

TEST_P(ThenOnStream, RunsOnTheSameThreadAndStream) {
  scheduler sched(options(2));
  gate go;
  auto f = sched.submit([&](device_context& c) {
    go.wait();
    return std::pair{std::this_thread::get_id(), c.stream().index()};
  });
  auto g = f.then_on_stream([](device_context& c, auto& before) {
    return before == std::pair{std::this_thread::get_id(), c.stream().index()};
  });
  go.open();
  EXPECT_TRUE(g.get());
}

TEST_P(ThenOnStream, AttachedLateIsThen) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 4; }, route::on(1));
  f.wait();
  EXPECT_EQ(f.then_on_stream([](int& x) { return x + this_device::id(); }).get(), 5);
}

TEST_P(ThenOnStream, AttachedAtAnyMomentRunsOnce) {
  scheduler sched(options(2));
  for (int k = 0; k < 2000; ++k) {
    std::atomic<int> runs{0};
    auto f = sched.submit([k](device_context& c) {
      c.enqueue([alive = counted()] { (void)alive; });
      return k;
    });
    EXPECT_EQ(f.then_on_stream([&runs, alive = counted()](int& x) { return ++runs, x; }).get(), k);
    ASSERT_EQ(runs, 1);
  }
}

TEST_P(ThenOnStream, IsSkippedAfterAnError) {
  scheduler sched(options(1));
  for (const bool late : {false, true}) {
    gate go;
    auto f = sched.submit([&]() -> int {
      go.wait();
      throw 3;
    });
    if (late) {
      go.open();
      f.wait();
    }
    auto g = f.then_on_stream([](int&) { ADD_FAILURE(); });
    go.open();
    EXPECT_THROW(g.get(), int);
  }
}

TEST_P(ThenOnStream, OfACancelledItemIsSkipped) {
  scheduler sched(options(1));
  std::stop_source source;
  occupied_device busy(sched, 0);
  auto f = sched.submit([] { return 1; }, route::any().stop(source.get_token()));
  auto g = f.then_on_stream([](int&) { ADD_FAILURE(); });
  source.request_stop();
  busy.release();
  EXPECT_THROW(g.get(), cancelled);
}

TEST_P(ThenOnStream, SharesTheErrorOfTheStreamWorkAndTellsItOnce) {
  auto chosen = options(1);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    gate go;
    auto f = sched.submit([&](device_context& c) {
      go.wait();
      c.enqueue([] { throw std::range_error("work"); });
      return 1;
    });
    auto g = f.then_on_stream([](int&) {});
    go.open();
    EXPECT_THROW(g.get(), std::range_error);
  }
  EXPECT_EQ(log.size(), 0u) << log.events().at(0).message;
}

TEST_P(ThenOnStream, Chains) {
  scheduler sched(options(1));
  gate go;
  std::vector<int> order;
  auto f = sched.submit([&] {
    go.wait();
    order.push_back(0);
    return 1;
  });
  auto g = f.then_on_stream([&](int& x) { return order.push_back(1), x + 1; })
               .then_on_stream([&](int& x) { return order.push_back(2), x + 1; })
               .then([&](int x) { return order.push_back(3), x + 1; });
  go.open();
  EXPECT_EQ(g.get(), 4);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(ThenOnStream, OfAnArenaItemIsThen) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return 1; }, route::on(0).in_arena());
  EXPECT_EQ(f.then_on_stream([](int& x) { return x + 1; }).get(), 2);
}

TEST_P(ThenOnStream, ChainsOfAnyLengthNeedNoStack) {
  scheduler sched(options(1));
  constexpr int links = 200'000;
  gate go;
  auto f = sched.submit([&] {
    go.wait();
    return 0;
  });
  for (int k = 0; k < links; ++k) f = f.then_on_stream([](int& x) { return x + 1; });
  go.open();
  EXPECT_EQ(f.get(), links);
}

TEST_P(ThenOnStream, FollowersOfAFollowerComeBeforeItsSiblings) {
  scheduler sched(options(1));
  gate go;
  std::string order;
  auto f = sched.submit([&] { go.wait(); });
  auto chain = f.then_on_stream([&] { order += 'a'; }).then_on_stream([&] { order += 'b'; });
  go.open();
  chain.get();
  EXPECT_EQ(order, "ab");
}

TEST_P(ThenOnStream, LeavesTheErrorOfTheOtherToBeToldWhereItHasAnother) {
  const error_log told;
  auto chosen = options(1);
  chosen.on_error = told;
  {
    scheduler sched(chosen);
    gate go;
    // Cancelled: the error of what it would have continued is nobody's.
    auto unrun = sched
                     .submit([&] {
                       go.wait();
                       throw std::runtime_error("of the callable");
                     })
                     .then_on_stream([] {});
    EXPECT_TRUE(unrun.cancel());
    go.open();
    EXPECT_THROW(unrun.get(), cancelled);
    if (deferred()) {  // failed by itself: so is that of the stream work
      gate attached;
      auto failed = sched
                        .submit([&](device_context& c) {
                          attached.wait();
                          c.enqueue([] { throw std::runtime_error("of the stream work"); });
                        })
                        .then_on_stream([] { throw std::string("of its own"); });
      attached.open();
      EXPECT_THROW(failed.get(), std::string);
    }
  }
  std::set<std::string> messages;
  for (const auto& each : told.events()) messages.insert(each.message.substr(each.message.rfind(": ") + 2));
  EXPECT_EQ(messages.count("of the callable"), 1u);
  EXPECT_EQ(messages.count("of the stream work"), deferred() ? 1u : 0u);
}

TEST_P(ThenOnStream, WaitsForItsStreamWorkThoughTheOtherHasNone) {
  scheduler sched(options(1));
  for (int k = 0; k < 20; ++k) {
    gate go;
    bool done = false;
    auto f = sched.submit([&] { go.wait(); }, route::any().host_only());
    auto g = f.then_on_stream([&](device_context& c) {
      c.enqueue([&] {
        done = true;
        throw k;
      });
    });
    go.open();
    EXPECT_THROW(g.get(), int);
    EXPECT_TRUE(done);
  }
}

}  // namespace
}  // namespace heddle::test
