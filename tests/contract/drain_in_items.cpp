// SPDX-License-Identifier: Apache-2.0
// Items of one scheduler that wait for the end of another one.
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

constexpr std::chrono::seconds hang{20};

/// Waits for the end of all items of a scheduler in the way that it names.
struct way {
  const char* name;
  std::function<void(scheduler&)> wait;
};

const std::vector<way>& ways() {
  static const std::vector<way> all = {{"drain", [](scheduler& s) { s.drain(); }},
                                       {"drain_for", [](scheduler& s) { EXPECT_TRUE(s.drain_for(hang)); }},
                                       {"join", [](scheduler& s) { s.join(); }}};
  return all;
}

/// What the item of the future threw would_deadlock; false if it ended well.
bool refused(future<void>& f) {
  if (!f.wait_for(hang)) {
    ADD_FAILURE() << "a hang";
    std::terminate();  // nothing that this test refers to may go
  }
  try {
    f.get();
  } catch (const would_deadlock&) {
    return true;
  }
  return false;
}

HEDDLE_CONTRACT_SUITE(EndOfAnotherScheduler);

TEST_P(EndOfAnotherScheduler, ServesWhatItsItemsNeedOfTheWaitingDevice) {
  scheduler a(options(1));
  for (const auto& each : ways()) {
    SCOPED_TRACE(each.name);
    auto f = a.submit([&] {
      scheduler b(options(1));
      auto g = b.submit([&] { return a.submit([] { return 3; }).get(); });
      each.wait(b);
      EXPECT_TRUE(g.ready());
      return g.get();
    });
    EXPECT_EQ(f.get(), 3);
  }
}

TEST_P(EndOfAnotherScheduler, ByItsDestructorServesTheSame) {
  scheduler a(options(1));
  auto f = a.submit([&] {
    future<int> g;
    {
      scheduler b(options(1));
      g = b.submit([&] { return a.submit([] { return 3; }, route::on(0)).get(); });
    }
    EXPECT_TRUE(g.ready());
    return g.get();
  });
  EXPECT_EQ(f.get(), 3);
}

TEST_P(EndOfAnotherScheduler, ServesWhatComesOneAfterAnother) {
  scheduler a(options(1));
  auto f = a.submit([&] {
    scheduler b(options(2));
    std::atomic<int> sum{0};
    for (int k = 0; k < 100; ++k) (void)b.submit([&, k] { sum += a.submit([k] { return k; }).get(); });
    b.drain();
    return sum.load();
  });
  EXPECT_EQ(f.get(), 4950);
}

TEST_P(EndOfAnotherScheduler, ServesStreamWorkOfTheWaitingDevice) {
  scheduler a(options(1));
  auto f = a.submit([&] {
    scheduler b(options(1));
    int value = 0;
    (void)b.submit([&] {
      a.submit([&value](device_context& c) {
         for (int k = 0; k < 5; ++k) c.enqueue([&value] { ++value; });
       }).get();
    });
    b.drain();
    return value;
  });
  EXPECT_EQ(f.get(), 5);
}

TEST_P(EndOfAnotherScheduler, RunsNoUnrelatedItem) {
  scheduler a(options(1));
  std::atomic<int> others{0};
  gate running;
  gate queued;
  auto f = a.submit([&] {
    scheduler b(options(1));
    running.open();
    queued.wait();
    (void)b.submit([&] { a.submit([] {}, route::any().priority(-5)).get(); });
    b.drain();
    return others.load();
  });
  running.wait();
  std::vector<future<void>> all;
  for (int k = 0; k < 10; ++k) all.push_back(a.submit([&] { ++others; }, route::any().priority(5)));
  queued.open();
  EXPECT_EQ(f.get(), 0);
  for (auto& each : all) each.get();
}

TEST_P(EndOfAnotherScheduler, LeavesWhatTheDeviceHadTakenToOthers) {
  scheduler a(options(2));
  gate running;
  gate queued;
  gate ran;
  auto f = a.submit(
      [&] {
        scheduler b(options(1));
        running.open();
        queued.wait();
        (void)b.submit([&] { ran.wait(); });
        b.drain();
      },
      route::on(0));
  running.wait();
  auto g = a.submit([&] { ran.open(); });
  queued.open();
  EXPECT_FALSE(refused(f));
  g.get();
}

TEST_P(EndOfAnotherScheduler, TwoDeepServesEachDevice) {
  scheduler a(options(1));
  for (const auto& each : ways()) {
    SCOPED_TRACE(each.name);
    auto f = a.submit([&] {
      scheduler b(options(1));
      auto g = b.submit([&] {
        scheduler c(options(1));
        auto h = c.submit([&] {
          const int of_a = a.submit([] { return 3; }).get();
          return of_a + b.submit([] { return 4; }).get();
        });
        each.wait(c);
        return h.get();
      });
      b.drain();  // a closed one would refuse what c submits
      return g.get();
    });
    EXPECT_EQ(f.get(), 7);
  }
}

TEST_P(EndOfAnotherScheduler, InAnItemThatIsServedMeanwhileReturns) {
  scheduler a(options(1));
  auto f = a.submit([&] {
    scheduler b(options(1));
    auto g = b.submit([&] {
      return a
          .submit([&] {
            scheduler c(options(1));
            auto h = c.submit([&] { return a.submit([] { return 5; }).get(); });
            c.join();
            return h.get();
          })
          .get();
    });
    b.join();
    return g.get();
  });
  EXPECT_EQ(f.get(), 5);
}

TEST_P(EndOfAnotherScheduler, FromTwoDevicesAtOnceReturns) {
  scheduler a(options(2));
  scheduler b(options(1));
  for (int round = 0; round < 20; ++round) {
    gate go;
    std::vector<future<void>> all;
    for (int k = 0; k < 2; ++k) {
      all.push_back(a.submit(
          [&] {
            go.wait();
            b.drain();
          },
          route::on(k)));
      (void)b.submit([&, k] {
        go.wait();
        a.submit([] {}, route::on(k)).get();
      });
    }
    go.open();
    for (auto& each : all) EXPECT_FALSE(refused(each));
  }
}

TEST_P(EndOfAnotherScheduler, WithATimeLimitReturnsFalseAfterIt) {
  scheduler a(options(1));
  scheduler b(options(1));
  const occupied_device busy(b, 0);
  auto f = a.submit([&] {
    EXPECT_FALSE(b.drain_for(std::chrono::milliseconds(5)));
    EXPECT_FALSE(b.drain_for(std::chrono::seconds(-5)));
  });
  f.get();
}

// Either may come second. Who has a time limit would end by itself, and does not wait for that.
TEST_P(EndOfAnotherScheduler, ThatWaitsForThisOneIsRefusedOnOneSide) {
  scheduler a(options(1));
  scheduler b(options(1));
  for (int round = 0; round < 50; ++round) {
    gate ready;
    const auto waiter = [&ready, round](scheduler& other) {
      return [&ready, &other, limited = round % 3 == 2] {
        ready.wait();
        limited ? (void)other.drain_for(hang * 4) : other.drain();
      };
    };
    auto f = a.submit(waiter(b));
    auto g = b.submit([&, wait = waiter(a)] {
      if (round % 2) return wait();
      ready.wait();
      a.drain();
    });
    ready.open();
    const bool first = refused(f);
    const bool second = refused(g);
    EXPECT_TRUE(first || second);
    if (round % 6 == 2) {
      EXPECT_FALSE(second) << "the other one would have ended by itself";
    }
  }
}

TEST_P(EndOfAnotherScheduler, InARingOfThreeIsRefusedOnOneSide) {
  std::optional<scheduler> all[3];
  for (auto& each : all) each.emplace(options(2));
  for (int round = 0; round < 20; ++round) {
    gate ready;
    std::vector<future<void>> waiters;
    for (int k = 0; k < 3; ++k) {
      waiters.push_back(all[k]->submit([&, k] {
        ready.wait();
        all[(k + 1) % 3]->drain();
      }));
    }
    ready.open();
    int count = 0;
    for (auto& each : waiters) count += refused(each);
    EXPECT_GE(count, 1);
  }
}

TEST_P(EndOfAnotherScheduler, WhoseItemWaitsForTheWaitingOneIsRefusedOnOneSide) {
  scheduler a(options(1));
  scheduler b(options(1));
  for (int round = 0; round < 50; ++round) {
    std::optional<future<void>> f;
    gate ready;
    f = a.submit([&] {
      ready.wait();
      b.drain();
    });
    bool item_refused = false;
    auto g = b.submit([&] {
      ready.wait();
      try {
        f->wait();
      } catch (const would_deadlock&) {
        item_refused = true;
      }
    });
    ready.open();
    EXPECT_FALSE(refused(g));
    const bool drain_refused = refused(*f);
    EXPECT_TRUE(drain_refused || item_refused);
  }
}

TEST_P(EndOfAnotherScheduler, WhoseItemComesBehindTheWaitingOneOnAStreamIsRefused) {
  scheduler a(options(1));
  bool told = false;
  auto f = a.submit(
      [&] {
        scheduler b(options(1));
        auto g = b.submit([&] { a.submit([] {}, route::on(0).stream(1)).get(); });
        try {
          b.drain();
        } catch (const would_deadlock&) {
          told = true;
          return b.cancel();
        }
        told = refused(g);
      },
      route::on(0).stream(1));
  (void)refused(f);
  EXPECT_TRUE(told);
}

TEST_P(EndOfAnotherScheduler, RefusedSaysWhatToDoAndLeavesItOpen) {
  scheduler a(options(1));
  scheduler b(options(2));
  std::atomic<pid_t> drainer{0};
  gate queued;
  auto f = a.submit([&] {
    queued.wait();
    EXPECT_TRUE(eventually([&] { return drainer != 0 && sleeps(drainer); }));
    EXPECT_THROW((void)b.drain_for(std::chrono::hours(1)), would_deadlock);
    EXPECT_THROW(b.join(), would_deadlock);
    EXPECT_EQ(b.submit([] { return 1; }, route::on(1)).get(), 1) << "the refused join closed it";
    try {
      b.drain();
      ADD_FAILURE() << "not refused";
    } catch (const would_deadlock& e) {
      EXPECT_NE(std::string(e.what()).find("outside of"), std::string::npos) << e.what();
    }
  });
  auto g = b.submit(
      [&] {
        drainer = this_thread_number();
        a.drain();
      },
      route::on(0));
  queued.open();
  EXPECT_FALSE(refused(f));
  EXPECT_FALSE(refused(g));
}

TEST_P(EndOfAnotherScheduler, ByItsDestructorIsToldWhereItIsRefused) {
  const error_log log;
  auto chosen = options(1);
  chosen.on_error = log;
  scheduler a(options(1));
  auto b = std::make_unique<scheduler>(chosen);
  std::optional<future<void>> f;
  gate ready;
  auto g = b->submit([&, &b = *b] {
    ready.wait();
    try {
      f->wait();
    } catch (const would_deadlock&) {
      return true;
    }
    return false;
  });
  f = a.submit([&] {
    ready.wait();
    b.reset();
  });
  ready.open();
  const bool item_refused = g.get();
  EXPECT_FALSE(refused(*f));
  EXPECT_TRUE(item_refused || log.size() == 1);
}

TEST_P(EndOfAnotherScheduler, InAnArenaIsRefusedOnOneSide) {
  scheduler a(options(1));
  scheduler b(options(1));
  for (int round = 0; round < 20; ++round) {
    gate ready;
    const auto waiter = [&ready](scheduler& other) {
      return [&] {
        ready.wait();
        other.drain();
      };
    };
    auto f = a.submit(waiter(b));
    auto g = b.submit(waiter(a), route::on(0).in_arena());
    ready.open();
    const bool first = refused(f);
    const bool second = refused(g);
    EXPECT_TRUE(first || second);
  }
}

}  // namespace
}  // namespace heddle::test
