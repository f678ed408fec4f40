// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(WaitThatCannotBeServed);

TEST_P(WaitThatCannotBeServed, BeyondTheStatedDepthIsRefusedWithATypedError) {
  scheduler sched(options(2));
  std::atomic<int> left{2000};  // what a refused item has submitted still runs
  std::function<int()> nest = [&]() -> int { return --left < 0 ? 0 : sched.submit(nest).get(); };
  EXPECT_THROW((void)sched.submit(nest).get(), would_deadlock);
  sched.drain();
  EXPECT_EQ(sched.submit([] { return 1; }, route::on(0)).get(), 1) << "the device goes on";
}

TEST_P(WaitThatCannotBeServed, ForItselfIsRefused) {
  scheduler sched(options(2));
  std::optional<future<void>> own;
  gate ready;
  own = sched.submit([&] {
    ready.wait();
    own->wait();
  });
  ready.open();
  while (!own->wait_for(std::chrono::hours(1))) {
  }
  EXPECT_THROW(own->get(), would_deadlock);
}

TEST_P(WaitThatCannotBeServed, ForAnItemThatWaitsForItIsRefusedOnOneSide) {
  scheduler sched(options(2));
  for (int round = 0; round < 50; ++round) {
    std::optional<future<void>> a;
    std::optional<future<void>> b;
    gate ready;
    std::atomic<int> refused{0};
    const auto waiter = [&](std::optional<future<void>>& other) {
      return [&] {
        ready.wait();
        try {
          other->wait();
        } catch (const would_deadlock&) {
          ++refused;
        }
      };
    };
    a = sched.submit(waiter(b), route::on(0));
    b = sched.submit(waiter(a), route::on(1));
    ready.open();
    sched.drain();
    EXPECT_GE(refused, 1);
    a->get();
    b->get();
  }
}

TEST_P(WaitThatCannotBeServed, ForWhatContinuesItIsRefused) {
  scheduler sched(options(1));
  std::optional<future<void>> after;
  gate ready;
  auto f = sched.submit([&] {
    ready.wait();
    after->wait();
  });
  after = f.then([] {});
  ready.open();
  sched.drain();
  EXPECT_THROW(after->get(), would_deadlock);
}

TEST_P(WaitThatCannotBeServed, BehindItselfOnAFixedStreamIsRefused) {
  scheduler sched(options(1));
  auto f = sched.submit([&] { sched.submit([] {}, route::on(0).stream(1)).get(); }, route::on(0).stream(1));
  EXPECT_THROW(f.get(), would_deadlock);
}

TEST_P(WaitThatCannotBeServed, IsEndedByTheDeadlineOfWhatItWaitsFor) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 1);
  auto f = sched.submit(
      [&] {
        sched
            .submit([] {},
                    route::on(1).deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)))
            .get();
      },
      route::on(0));
  EXPECT_THROW(f.get(), deadline_exceeded);
}

TEST_P(WaitThatCannotBeServed, IsEndedByACancellerFromOutside) {
  scheduler sched(options(2));
  occupied_device busy(sched, 1);
  std::stop_source source;
  gate waiting;
  auto f = sched.submit(
      [&] {
        auto other = sched.submit([] {}, route::on(1).stop(source.get_token()));
        waiting.open();
        other.get();
      },
      route::on(0));
  waiting.wait();
  source.request_stop();
  EXPECT_THROW(f.get(), cancelled);
}

TEST_P(WaitThatCannotBeServed, WithATimeLimitRunsNothing) {
  scheduler sched(options(1));
  std::atomic<bool> ran{false};
  auto f = sched.submit([&] {
    auto other = sched.submit([&] { ran = true; });
    const bool ended = other.wait_for(std::chrono::milliseconds(20));
    return std::pair{ended, ran.load()};
  });
  EXPECT_EQ(f.get(), (std::pair{false, false}));
}

TEST_P(WaitThatCannotBeServed, OnATbbThreadBelowItIsRefused) {
  scheduler sched(options(2));
  const occupied_device busy(sched, 0);
  auto slow = sched.submit([] {}, route::on(0));
  std::atomic<int> unrefused{0};
  std::thread outside([&] {
    as_device(sched, 1, [&] {
      try {
        slow.wait();
        ++unrefused;
      } catch (const would_deadlock&) {
      }
    });
  });
  outside.join();
  EXPECT_EQ(unrefused, 0);
}

TEST_P(WaitThatCannotBeServed, ForAFinishedItemIsAllowedEverywhere) {
  scheduler sched(options(2));
  auto done = sched.submit([] { return 8; });
  done.wait();
  EXPECT_EQ(as_device(sched, 0, [&] { return done.get(); }), 8);
}

TEST_P(WaitThatCannotBeServed, ForTheSchedulersEndIsRefused) {
  scheduler sched(options(2));
  for (const auto& where : {route::on(0), route::on(0).in_arena()}) {
    sched
        .submit(
            [&] {
              EXPECT_THROW(sched.drain(), would_deadlock);
              EXPECT_THROW((void)sched.drain_for(std::chrono::seconds(1)), would_deadlock);
              EXPECT_THROW(sched.join(), would_deadlock);
            },
            where)
        .get();
  }
  EXPECT_EQ(sched.submit([] { return 1; }).get(), 1) << "the refused join did not close it";
}

TEST_P(WaitThatCannotBeServed, ForTheSchedulersEndByDestroyingItIsTold) {
  auto chosen = options(2);
  std::atomic<int> told{0};
  chosen.on_error = [&](const error_event& event) {
    try {
      std::rethrow_exception(event.error);
    } catch (const would_deadlock&) {
      ++told;
    } catch (...) {
    }
  };
  auto* const sched = new scheduler(chosen);
  gate submitted;  // submit() may touch the scheduler until it returns
  auto f = sched->submit([&, sched] {
    submitted.wait();
    delete sched;
  });
  submitted.open();
  f.get();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace heddle::test
