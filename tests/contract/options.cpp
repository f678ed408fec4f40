// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(OnStart);
HEDDLE_CONTRACT_SUITE(QueueCapacity);
HEDDLE_CONTRACT_SUITE(Options);

TEST_P(OnStart, RunsOnceOnEachDeviceThreadBeforeTheConstructorReturns) {
  auto chosen = options(3);
  std::mutex mutex;
  std::vector<std::pair<int, std::thread::id>> seen;
  chosen.on_start = [&](device_context& c) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(this_device::id(), c.id());
    seen.emplace_back(c.id(), std::this_thread::get_id());
  };
  scheduler sched(chosen);
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [id, thread] : seen) {
    EXPECT_EQ(sched.submit([] { return std::this_thread::get_id(); }, route::on(id)).get(), thread);
  }
}

TEST_P(OnStart, MayPutWorkOnItsStreamAndKeepObjects) {
  auto chosen = options(2);
  std::atomic<int> done{0};
  chosen.on_start = [&](device_context& c) {
    (void)c.keep(counted());
    EXPECT_EQ(c.scratch<int>(10).size(), 10u);
    for (int k = 0; k < 5; ++k) c.enqueue([&] { ++done; });
    c.launch(7, [&](std::int64_t) { ++done; });
  };
  const scheduler sched(chosen);
  EXPECT_EQ(done, 24);
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(OnStart, ThatThrowsStopsAStrictSchedulerAndNamesTheDevice) {
  auto chosen = options(3);
  chosen.ids = {4, 5, 6};
  chosen.on_start = [](device_context& c) {
    if (c.id() == 5) throw std::runtime_error("no licence");
  };
  try {
    const scheduler sched(chosen);
    FAIL();
  } catch (const no_device& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("device 5"), std::string::npos) << what;
    EXPECT_NE(what.find("no licence"), std::string::npos) << what;
    EXPECT_THROW(std::rethrow_if_nested(e), std::runtime_error);
  }
  EXPECT_TRUE(eventually([] { return device_threads() == 0; }));
}

TEST_P(OnStart, WhoseStreamWorkFailsCountsAsFailed) {
  auto chosen = options(1);
  chosen.on_start = [](device_context& c) { c.enqueue([] { throw std::runtime_error("late"); }); };
  EXPECT_THROW(scheduler{chosen}, no_device);
}

TEST_P(OnStart, ThatThrowsLeavesTheDeviceOutOfALenientScheduler) {
  auto chosen = options(3);
  const error_log log;
  chosen.on_error = log;
  chosen.at_start = on_start_failure::lenient;
  chosen.on_start = [](device_context& c) {
    if (c.id() == 1) throw std::runtime_error("no licence");
  };
  scheduler sched(chosen);
  ASSERT_EQ(sched.devices().size(), 2u);
  EXPECT_EQ(sched.devices()[0].id, 0);
  EXPECT_EQ(sched.devices()[1].id, 2) << "ids stay as they were given";
  ASSERT_EQ(sched.failed().size(), 1u);
  EXPECT_EQ(sched.failed()[0].info.id, 1);
  EXPECT_NE(sched.failed()[0].reason.find("no licence"), std::string::npos);
  EXPECT_EQ(log.size(), 1u);
  EXPECT_THROW((void)sched.submit([] {}, route::on(1)), invalid_option);
  auto all = sched.broadcast([] { return this_device::id(); });
  EXPECT_EQ(all[1].get(), 2);
  EXPECT_EQ(sched.submit([] { return this_device::id(); }, route::on(2).in_arena()).get(), 2);
  const device_local objects(sched, [](device_context& c) { return c.id(); });
  EXPECT_EQ(sched.submit([&](device_context& c) { return objects[c]; }, route::on(2)).get(), 2);
}

TEST_P(OnStart, TellsEachDevicesOwnError) {
  auto chosen = options(3);
  const error_log log;
  chosen.on_error = log;
  chosen.at_start = on_start_failure::lenient;
  chosen.on_start = [](device_context& c) {
    if (c.id() != 2) throw c.id();
  };
  const scheduler sched(chosen);
  const auto events = log.events();
  ASSERT_EQ(events.size(), 2u);
  for (const auto& event : events) {
    try {
      std::rethrow_exception(event.error);
    } catch (int id) {
      EXPECT_EQ(event.device, id);
    }
  }
}

TEST_P(OnStart, ThatThrowsEverywhereStopsALenientSchedulerToo) {
  auto chosen = options(2);
  const error_log log;
  chosen.on_error = log;
  chosen.at_start = on_start_failure::lenient;
  chosen.on_start = [](device_context&) { throw 1; };
  try {
    const scheduler sched(chosen);
    FAIL();
  } catch (const no_device& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("device 0"), std::string::npos) << what;
    EXPECT_NE(what.find("device 1"), std::string::npos) << what;
  }
}

TEST_P(OnStart, DoesNotOutliveTheScheduler) {
  auto chosen = options(2);
  chosen.on_start = [held = counted()](device_context&) { (void)held; };
  { const scheduler sched(chosen); }
  chosen.on_start = {};
  EXPECT_EQ(counted::living(), 0);
}

TEST_P(QueueCapacity, RejectsWhatDoesNotFit) {
  auto chosen = options(1);
  chosen.queue_capacity = 3;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  std::vector<future<void>> all;
  for (int k = 0; k < 3; ++k) all.push_back(sched.submit([] {}));
  auto f = [p = std::make_unique<int>(6)] { return *p; };
  EXPECT_THROW((void)sched.submit(std::move(f)), queue_full);
  EXPECT_FALSE(sched.try_submit(std::move(f)));
  EXPECT_EQ(f(), 6) << "untouched";
  EXPECT_EQ(sched.stats().refused, 2u);
  busy.release();
  for (auto& each : all) each.get();
  EXPECT_EQ(sched.submit(std::move(f)).get(), 6);
}

TEST_P(QueueCapacity, TrySubmitNeverBlocks) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  const occupied_device busy(sched, 0);
  auto first = sched.try_submit([] { return 1; });
  ASSERT_TRUE(first);
  auto f = [p = std::make_unique<int>(6)] { return *p; };
  EXPECT_FALSE(sched.try_submit(std::move(f)));
  EXPECT_EQ(f(), 6);
}

TEST_P(QueueCapacity, WaitsForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 2;
  scheduler sched(chosen);
  std::atomic<int> runs{0};
  std::vector<std::thread> submitters;
  for (int t = 0; t < 4; ++t) {
    submitters.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        (void)sched.submit([&] { ++runs; });
        EXPECT_LE(sched.stats().queued, 2u);
      }
    });
  }
  for (auto& each : submitters) each.join();
  sched.drain();
  EXPECT_EQ(runs, 800);
}

TEST_P(QueueCapacity, MakesRoomForCancelledItems) {
  auto chosen = options(1);
  chosen.queue_capacity = 2;
  scheduler sched(chosen);
  for (int round = 0; round < 50; ++round) {
    auto a = sched.submit([] {});
    a.cancel();
  }
  sched.drain();
  EXPECT_EQ(sched.stats().queued, 0u);
}

// Source: OSGeo/gdal#6389: submit from inside a job blocks when the pool is full.
TEST_P(QueueCapacity, DoesNotLetAnItemWaitForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  gate running;
  gate filled;
  auto f = sched.submit([&] {
    running.open();
    filled.wait();
    (void)sched.submit([] {});
  });
  running.wait();
  auto filler = sched.submit([] {});
  filled.open();
  EXPECT_THROW(f.get(), queue_full);
}

TEST_P(QueueCapacity, DoesNotLetAnItemUnderAGuardWaitForRoomEither) {
  auto chosen = options(2);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  gate running;
  gate filled;
  auto f = sched.submit(
      [&] {
        const device_guard guard(sched, 1);
        running.open();
        filled.wait();
        (void)sched.submit([] {}, route::on(0));
      },
      route::on(0));
  running.wait();
  auto filler = sched.submit([] {}, route::on(0));
  filled.open();
  EXPECT_THROW(f.get(), queue_full);
}

TEST_P(QueueCapacity, DoesNotBoundContinuations) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  chosen.full = when_full::reject;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  auto f = sched.submit([] { return 0; });
  for (int k = 0; k < 50; ++k) f = f.then([](int x) { return x + 1; });
  busy.release();
  EXPECT_EQ(f.get(), 50);
}

TEST_P(QueueCapacity, CloseFreesASubmitterThatWaitsForRoom) {
  auto chosen = options(1);
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  occupied_device busy(sched, 0);
  auto filler = sched.submit([] {});
  std::atomic<pid_t> number{0};
  std::thread submitter([&] {
    number = this_thread_number();
    try {
      (void)sched.submit([] {});
    } catch (const scheduler_stopped&) {
    }
  });
  EXPECT_TRUE(eventually([&] { return number != 0 && sleeps(number); }));
  sched.close();
  busy.release();
  submitter.join();
  sched.join();
}

TEST_P(Options, OutOfRangeAreRefusedByName) {
  const auto refused = [](auto set, const char* name) {
    auto chosen = options(2);
    set(chosen);
    try {
      const scheduler sched(chosen);
      ADD_FAILURE() << name << " was accepted";
    } catch (const invalid_option& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
  };
  refused([](auto& o) { o.arena_threads = 2; }, "arena_threads");
  refused([](auto& o) { o.arena_threads = -3; }, "arena_threads");
  refused([](auto& o) { o.streams_per_device = 65; }, "streams_per_device");
  refused([](auto& o) { o.streams_per_device = -1; }, "streams_per_device");
  refused([](auto& o) { o.window_per_stream = 1025; }, "window_per_stream");
  refused([](auto& o) { o.window_per_stream = -1; }, "window_per_stream");
  refused([](auto& o) { o.queue_capacity = 0; }, "queue_capacity");
  refused([](auto& o) { o.host.devices = -1; }, "devices");
  refused([](auto& o) { o.devices = {"7"}; }, "7");
  refused([](auto& o) { o.devices = {"host:9"}; }, "host:9");
  refused([](auto& o) { o.devices = {"nonsense"}; }, "nonsense");
  refused([](auto& o) { o.devices = {"0", "host:0"}; }, "host:0");
  refused([](auto& o) { o.use = static_cast<backend>(9); }, "use");
}

TEST_P(Options, ThatAskForCudaAreRefusedWithoutIt) {
  auto chosen = options(2);
  chosen.use = backend::cuda;
  EXPECT_THROW(scheduler{chosen}, no_device);
  EXPECT_THROW((void)list_devices(backend::cuda), no_device);
}

TEST_P(Options, ChooseDevicesInTheOrderGiven) {
  auto chosen = options(4);
  chosen.devices = {"host:3", "HOST-1"};
  scheduler sched(chosen);
  ASSERT_EQ(sched.devices().size(), 2u);
  EXPECT_EQ(sched.devices()[0].ordinal, 3);
  EXPECT_EQ(sched.devices()[1].ordinal, 1);
  EXPECT_EQ(sched.devices()[0].id, 0);
  EXPECT_EQ(sched.submit([] { return this_device::info().uuid; }, route::on(1)).get(), "HOST-1");
}

TEST_P(Options, AtTheirLimitsWork) {
  auto chosen = options(1);
  chosen.streams_per_device = 64;
  chosen.window_per_stream = 1024;
  chosen.arena_threads = 3;
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  for (int k = 0; k < 200; ++k) EXPECT_EQ(sched.submit([k] { return k; }).get(), k);
}

TEST_P(Options, OnErrorThatThrowsOrDropsErrorsItselfHarmsNothing) {
  auto chosen = options(2);
  std::atomic<int> told{0};
  scheduler* self = nullptr;
  chosen.on_error = [&](const error_event&) {
    ++told;
    (void)self->submit([] {});
    throw std::runtime_error("from on_error");
  };
  scheduler sched(chosen);
  self = &sched;
  testing::internal::CaptureStderr();
  for (int k = 0; k < 3; ++k) (void)sched.submit([] { throw 1; });
  EXPECT_TRUE(eventually([&] { return told == 3; }));
  sched.drain();
  (void)testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace heddle::test
