// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(FutureEnd);

TEST_P(FutureEnd, HasNoCaptureLeftWhenItIsReady) {
  scheduler sched(options(2));
  for (int k = 0; k < 200; ++k) {
    auto f = sched.submit([a = counted(), b = std::make_unique<counted>()](device_context& c) {
      c.enqueue([held = counted()] { (void)held; });
    });
    f.wait();
    ASSERT_EQ(counted::living(), 0);
    f.get();
  }
}

TEST_P(FutureEnd, KeepsTheValueUntilItIsTakenOrDropped) {
  scheduler sched(options(2));
  auto f = sched.submit([] { return counted(); });
  f.wait();
  EXPECT_EQ(counted::living(), 1);
  { const auto value = f.get(); }
  EXPECT_EQ(counted::living(), 0);
  {
    const auto dropped = sched.submit([] { return counted(); });
    dropped.wait();
  }
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(FutureEnd, DroppedNeitherBlocksNorCancels) {
  scheduler sched(options(2));
  occupied_device busy(sched, 0);
  std::atomic<int> runs{0};
  for (int k = 0; k < 100; ++k)
    (void)sched.submit([&runs, alive = counted()] { return ++runs, counted(); }, route::on(0));
  EXPECT_EQ(runs, 0);
  busy.release();
  sched.drain();
  EXPECT_EQ(runs, 100);
  EXPECT_EQ(counted::living(), 0);
}

// Source: cms-sw/cmssw#21769: an exception in a task disappears.
TEST_P(FutureEnd, DroppedTellsItsErrorOnceWithDeviceAndLabel) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  (void)sched.submit([] { throw std::runtime_error("nobody"); }, route::on(1).label("dropped"));
  sched.drain();
  EXPECT_TRUE(eventually([&] { return log.size() == 1; }));
  const auto event = log.events().at(0);
  EXPECT_EQ(event.device, 1);
  EXPECT_EQ(event.label, "dropped");
  EXPECT_NE(event.message.find("nobody"), std::string::npos) << event.message;
  EXPECT_THROW(std::rethrow_exception(event.error), std::runtime_error);
}

TEST_P(FutureEnd, DroppedAfterItsEndTellsItsErrorToo) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  {
    auto f = sched.submit([] { throw 1; });
    f.wait();
  }
  EXPECT_EQ(log.size(), 1u);
}

TEST_P(FutureEnd, WhoseErrorWasTakenTellsNothing) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    EXPECT_THROW(sched.submit([] { throw 1; }).get(), int);
    EXPECT_THROW(sched.submit([] { throw 1; }).then([] {}).get(), int);
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(FutureEnd, OfACancelledItemTellsNothingWhenDropped) {
  auto chosen = options(1);
  const error_log log;
  chosen.on_error = log;
  {
    scheduler sched(chosen);
    const occupied_device busy(sched, 0);
    auto f = sched.submit([] {});
    f.cancel();
  }
  EXPECT_EQ(log.size(), 0u);
}

TEST_P(FutureEnd, OfAnItemThatRanTellsWhateverItThrew) {
  const error_log told;
  auto chosen = options(1);
  chosen.on_error = told;
  {
    scheduler sched(chosen);
    (void)sched.submit([] { throw cancelled("of something else"); });
    (void)sched.submit([] { throw deadline_exceeded("of something else"); });
  }
  EXPECT_EQ(told.size(), 2u);
}

TEST_P(FutureEnd, CarriesExceptionsOfEveryTypeUnchanged) {
  struct odd {
    int value;
    counted alive;
  };
  scheduler sched(options(2));
  const void* thrown = nullptr;
  auto f = sched.submit([&thrown] {
    try {
      throw odd{5, {}};
    } catch (odd& e) {
      thrown = &e;
      throw;
    }
  });
  try {
    f.get();
    FAIL();
  } catch (const odd& e) {
    EXPECT_EQ(e.value, 5);
    EXPECT_EQ(&e, thrown) << "the object itself, not a copy";
  }
  EXPECT_THROW(sched.submit([] { throw "text"; }).get(), const char*);
  EXPECT_THROW(sched.submit([] { throw std::unique_ptr<int>(); }).get(), std::unique_ptr<int>);
}

TEST_P(FutureEnd, OutlivesItsScheduler) {
  future<std::string> value;
  future<void> error;
  future<void> never;
  {
    scheduler sched(options(1));
    value = sched.submit([] { return std::string(100, 'x'); });
    error = sched.submit([] { throw 4; });
    occupied_device busy(sched, 0);
    never = sched.submit([] {});
    sched.cancel();
  }
  EXPECT_TRUE(value.ready());
  EXPECT_EQ(value.ran_on(), 0);
  EXPECT_EQ(value.get().size(), 100u);
  EXPECT_THROW(error.get(), int);
  EXPECT_FALSE(never.cancel());
  EXPECT_THROW(never.get(), cancelled);
}

TEST_P(FutureEnd, OfAResultWhoseConstructionThrowsCarriesThat) {
  struct fragile {
    explicit fragile(bool fails) {
      if (fails) throw 9;
    }
    counted alive;
  };
  scheduler sched(options(2));
  auto f = sched.submit([] { return fragile(true); });
  EXPECT_THROW((void)f.get(), int);
  EXPECT_EQ(counted::living(), 0);
}

}  // namespace
}  // namespace heddle::test
