// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/contract.hpp"
#include "support/counted.hpp"
#include "support/error_log.hpp"
#include "support/eventually.hpp"
#include "support/threads.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(OnStart);

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

TEST_P(OnStart, ThatFailsAlikeEverywhereSaysSoOnce) {
  auto chosen = options(8);
  chosen.on_start = [](device_context& c) {
    throw std::runtime_error(c.id() < 7 ? "no licence" : "no model");
  };
  try {
    const scheduler sched(chosen);
    FAIL();
  } catch (const no_device& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("no licence"), what.rfind("no licence")) << what;
    EXPECT_NE(what.find(") and 3 more: no licence; device 7"), std::string::npos) << what;
  }
}

TEST_P(OnStart, DoesNotOutliveTheScheduler) {
  auto chosen = options(2);
  chosen.on_start = [held = counted()](device_context&) { (void)held; };
  { const scheduler sched(chosen); }
  chosen.on_start = {};
  EXPECT_EQ(counted::living(), 0);
}

}  // namespace
}  // namespace heddle::test
