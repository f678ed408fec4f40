// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <coroutine>
#include <exception>
#include <future>
#include <stdexcept>
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

HEDDLE_CONTRACT_SUITE(CoAwait);

// The least that a coroutine needs: starts at once, gives its end to a std::future.
template <class R>
struct task {
  struct promise_type {
    std::promise<R> end;
    task get_return_object() { return {end.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(R value) { end.set_value(std::move(value)); }
    void unhandled_exception() { end.set_exception(std::current_exception()); }
  };
  std::future<R> end;
};

// A coroutine whose errors leave the resumed part; whoever calls it destroys it once it has ended.
struct loose {
  struct promise_type {
    loose get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> frame;
};

TEST_P(CoAwait, GivesTheValue) {
  scheduler sched(options(2));
  auto sum = [](scheduler& s) -> task<int> {
    const int a = co_await s.submit([] { return 1; });
    const int b = co_await s.submit([] { return 2; });
    co_await s.submit([] {});
    co_return a + b;
  };
  EXPECT_EQ(sum(sched).end.get(), 3);
}

TEST_P(CoAwait, ThrowsTheError) {
  scheduler sched(options(2));
  auto caught = [](scheduler& s) -> task<int> {
    try {
      co_await s.submit([] { throw std::out_of_range("x"); });
    } catch (const std::out_of_range&) {
      co_return 5;
    }
    co_return 0;
  };
  EXPECT_EQ(caught(sched).end.get(), 5);
}

TEST_P(CoAwait, ResumesOnTheCompletingDeviceFromOutside) {
  scheduler sched(options(3));
  auto where = [](scheduler& s, gate& go) -> task<int> {
    co_await s.submit([&go] { go.wait(); }, route::on(2));
    co_return this_device::id();
  };
  gate go;
  auto end = where(sched, go).end;
  go.open();
  EXPECT_EQ(end.get(), 2);
}

TEST_P(CoAwait, StaysOnTheDeviceWhereItWasResumedFirst) {
  scheduler sched(options(3));
  auto hop = [](scheduler& s, gate& first, gate& reached, gate& second) -> task<std::pair<int, int>> {
    co_await s.submit([&first] { first.wait(); }, route::on(1));
    const int before = this_device::try_id().value_or(-1);
    auto slow = s.submit([&second] { second.wait(); }, route::on(2));
    reached.open();
    co_await slow;
    co_return std::pair{before, this_device::try_id().value_or(-1)};
  };
  gate first;
  gate reached;
  gate second;
  auto end = hop(sched, first, reached, second).end;
  first.open();
  reached.wait();
  second.open();
  EXPECT_EQ(end.get(), (std::pair{1, 1}));
}

TEST_P(CoAwait, InsideAnItemStaysOnItsDevice) {
  scheduler sched(options(3));
  auto body = [](scheduler& s, gate& go) -> task<std::pair<int, int>> {
    const int before = this_device::id();
    co_await s.submit([&go] { go.wait(); }, route::on(2));
    co_return std::pair{before, this_device::id()};
  };
  gate go;
  auto started = sched.submit([&] { return body(sched, go).end; }, route::on(1)).get();
  go.open();
  EXPECT_EQ(started.get(), (std::pair{1, 1}));
}

TEST_P(CoAwait, OfAReadyFutureDoesNotSuspend) {
  scheduler sched(options(2));
  auto here = [](future<int> f) -> task<std::thread::id> {
    co_await f;
    co_return std::this_thread::get_id();
  };
  auto f = sched.submit([] { return 1; });
  f.wait();
  EXPECT_EQ(here(std::move(f)).end.get(), std::this_thread::get_id());
}

TEST_P(CoAwait, InManyCoroutinesAtOnceLosesNone) {
  scheduler sched(options(2));
  auto loop = [](scheduler& s, int n, counted) -> task<int> {
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += co_await s.submit([k] { return k; });
    co_return sum;
  };
  std::vector<std::future<int>> all;
  for (int k = 0; k < 50; ++k) all.push_back(loop(sched, 40, counted()).end);
  for (auto& each : all) EXPECT_EQ(each.get(), 780);
  sched.drain();
}

TEST_P(CoAwait, KeepsTheSchedulerDrainingUntilItEnds) {
  std::atomic<bool> ended{false};
  gate go;
  std::future<int> end;
  {
    scheduler sched(options(2));
    auto body = [](scheduler& s, gate& g, std::atomic<bool>& done) -> task<int> {
      co_await s.submit([&g] { g.wait(); });
      co_await s.submit([] {});  // a running item may submit after close
      done = true;
      co_return 1;
    };
    end = body(sched, go, ended).end;
    sched.close();
    go.open();
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(end.get(), 1);
}

TEST_P(CoAwait, AfterCloseThrowsInTheCoroutine) {
  scheduler sched(options(2));
  gate go;
  auto f = sched.submit([&] { go.wait(); });
  sched.close();
  auto body = [](future<void> g) -> task<int> {
    co_await g;
    co_return 1;
  };
  auto end = body(std::move(f)).end;
  EXPECT_THROW(end.get(), scheduler_stopped);
  go.open();
  sched.drain();
}

TEST_P(CoAwait, IsNotLeftSuspendedByCancel) {
  scheduler sched(options(1));
  auto body = [](scheduler& s, counted) -> task<int> {
    try {
      co_await s.submit([] {});
    } catch (const cancelled&) {
      co_return 1;
    }
    co_return 0;
  };
  std::future<int> end;
  {
    const occupied_device busy(sched, 0);
    end = body(sched, counted()).end;
    sched.cancel();
  }
  EXPECT_EQ(end.get(), 1);
  sched.drain();
}

TEST_P(CoAwait, TellsAnExceptionThatLeavesTheResumedPart) {
  auto chosen = options(1);
  const error_log log;
  chosen.on_error = log;
  loose coroutine;
  {
    scheduler sched(chosen);
    gate go;
    coroutine = [](scheduler& s, gate& g) -> loose {
      co_await s.submit([&g] { g.wait(); });
      throw std::runtime_error("loose");
    }(sched, go);
    go.open();
    sched.drain();
  }
  coroutine.frame.destroy();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log.events()[0].message.find("loose"), std::string::npos);
}

TEST_P(CoAwait, AfterTheSchedulerIsGoneGivesAFinishedValue) {
  future<int> f;
  {
    scheduler sched(options(2));
    f = sched.submit([] { return 6; });
  }
  auto body = [](future<int> g) -> task<int> { co_return co_await g; };
  EXPECT_EQ(body(std::move(f)).end.get(), 6);
}

}  // namespace
}  // namespace heddle::test
