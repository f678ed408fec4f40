// SPDX-License-Identifier: Apache-2.0
// How many threads there are, and what they cost while nothing is to be done.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "heddle/machine.hpp"
#include "stress/hosts.hpp"

namespace {

using namespace heddle::test;
using namespace std::chrono_literals;

int threads_of_this_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

std::chrono::microseconds cpu_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto micros = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return micros(used.ru_utime) + micros(used.ru_stime);
}

// Loads every device with loops and arena items, and tells the most threads that this process had.
int most_threads_under_load(heddle::scheduler& sched) {
  std::atomic<int> most{0};
  std::vector<heddle::future<void>> all;
  for (int k = 0; k < 40; ++k) {
    for (const auto& device : sched.devices()) {
      const auto loop = [&most] {
        tbb::parallel_for(0, 200, [](int) {
          for (int spin = 0; spin < 2000; ++spin) __asm__ volatile("");
        });
        const int now = threads_of_this_process();
        int before = most.load();
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
      };
      all.push_back(sched.submit(loop, heddle::route::on(device.id)));
      all.push_back(sched.submit(loop, heddle::route::on(device.id).in_arena()));
    }
  }
  for (auto& each : all) each.get();
  return most.load();
}

// uxlfoundation/oneTBB#1760 and #190: a container's quota is ignored, as cores are counted. Right: one thread
// per device, and of TBB's workers no more than the budget of cores, however many devices share it. (Quotas
// themselves are tested on control group files that the unit tests make.)
TEST(Budget, ThreadsStayWithinDevicesAndCores) {
  on_every_machine([](const heddle::scheduler_options& options) {
    const int cores = std::max(heddle::describe_machine().cores, 2);
    const int before = threads_of_this_process();
    heddle::scheduler sched(options);
    EXPECT_LE(most_threads_under_load(sched), before + options.host.devices + cores);
  });
}

// The same, where the process may run on one core only, which TBB does not learn after its start.
TEST(Budget, AnAffinityMaskOfOneCoreBoundsTheThreads) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  const int many = tbb::info::default_concurrency();
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(heddle::describe_machine().cores, 1);
  EXPECT_EQ(heddle::describe_machine().affinity_cores, 1);
  {
    std::thread([] {}).join();  // the thread sanitizer makes a thread of its own with the program's first
    const int before = threads_of_this_process();
    heddle::scheduler sched(hosts(8));
    EXPECT_LE(most_threads_under_load(sched), before + 8 + 1);  // TBB always has one worker
    if (many > 2) {
      EXPECT_LE(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism), 2u);
    }
  }
  sched_setaffinity(0, sizeof all, &all);
  EXPECT_GE(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism),
            static_cast<std::size_t>(many));
}

// A TBB worker that is out of work leaves its arena after some hundred yields, each of which takes some
// milliseconds where others keep the cores busy. Right: the end of a scheduler lets it leave; calling it back
// each few milliseconds once kept it there for good.
TEST(Budget, SchedulersEndWhereOthersKeepAllCoresBusy) {
  std::vector<std::jthread> busy;
  for (int k = 0; k < 2 * heddle::describe_machine().cores; ++k) {
    busy.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    heddle::scheduler sched(hosts(4));
    most_threads_under_load(sched);
  }
}

// microsoft/onnxruntime#1295: a count of 0 means an empty pool, and a deadlock. Right: 0 is "choose", and
// never none.
TEST(Budget, ZeroMeansADefaultNeverNone) {
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = 0;
  options.arena_threads = 0;
  options.streams_per_device = 0;
  options.window_per_stream = 0;
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    options.host.mode = mode;
    heddle::scheduler sched(options);
    EXPECT_GE(sched.devices().size(), 2u);
    const std::vector<int> input(10, 1);
    EXPECT_EQ(sched.map([](int x) { return x; }, input).size(), 10u);
    EXPECT_EQ(sched.map([](int x) { return x; }, input, {.route = heddle::route::any().in_arena()}).size(),
              10u);
    EXPECT_GE(sched.submit([](heddle::device_context& c) { return c.stream_count(); }).get(), 1);
  }
}

// The same: from the environment, and where 0 makes no sense it is refused by name.
TEST(Budget, ZeroInTheEnvironmentIsADefaultOrRefused) {
  for (const char* name : {"HEDDLE_HOST_DEVICES", "HEDDLE_ARENA_THREADS", "HEDDLE_STREAMS", "HEDDLE_WINDOW",
                           "HEDDLE_QUEUE_CAPACITY"}) {
    ASSERT_EQ(setenv(name, "0", 1), 0);
    try {
      heddle::scheduler sched;
      EXPECT_EQ(sched.submit([] { return 1; }).get(), 1) << name;
      EXPECT_EQ(sched.submit([] { return 1; }, heddle::route::any().in_arena()).get(), 1) << name;
    } catch (const heddle::invalid_option& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(name), std::string::npos) << refusal.what();
    }
    unsetenv(name);
  }
  heddle::scheduler_options options;
  options.queue_capacity = 0;
  EXPECT_THROW(heddle::scheduler{options}, heddle::invalid_option);
}

// The same kind: a variable without effect, since its name is wrong.
TEST(Budget, AMisspeltVariableIsToldOnceOnStandardError) {
  ASSERT_EQ(setenv("HEDDLE_HOST_DEVCES", "2", 1), 0);
  testing::internal::CaptureStderr();
  for (int k = 0; k < 2; ++k) heddle::scheduler sched;
  const std::string told = testing::internal::GetCapturedStderr();
  unsetenv("HEDDLE_HOST_DEVCES");
  EXPECT_EQ(told,
            "heddle: HEDDLE_HOST_DEVCES is set, and heddle reads no such variable: did you mean "
            "HEDDLE_HOST_DEVICES? `heddle doctor` tells of all\n");
}

// The same kind: the fewest arena threads that can be asked for, and no TBB workers.
TEST(Budget, ArenaItemsRunWhereTbbHasNoWorkers) {
  const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
  on_every_machine([](heddle::scheduler_options options) {
    options.arena_threads = 3;
    heddle::scheduler sched(options);
    std::atomic<int> ran{0};
    for (int k = 0; k < 100; ++k) {
      auto dropped = sched.submit([&] { ran.fetch_add(1); }, heddle::route::any().in_arena());
    }
    sched.drain();
    EXPECT_EQ(ran.load(), 100);
  });
}

// An item that waits for the test: what is pending, for as long as the test likes.
class clock_item {
 public:
  clock_item() : sched_(hosts(1)) {
    pending_ = sched_.submit([this] { gate_.wait(); });
    while (sched_.stats().devices[0].started == 0) std::this_thread::yield();
  }
  ~clock_item() {
    gate_.count_down();
    pending_.get();
  }
  clock_item(const clock_item&) = delete;
  clock_item& operator=(const clock_item&) = delete;
  /// The share of one core that this process uses while nothing happens for `time`.
  double idle_share(std::chrono::microseconds time) const {
    const auto begin = std::chrono::steady_clock::now();
    const auto before = cpu_time();
    EXPECT_FALSE(pending_.wait_for(time));
    const auto used = cpu_time() - before;
    return std::chrono::duration<double>(used) /
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  }

 private:
  heddle::scheduler sched_;
  std::latch gate_{1};
  heddle::future<void> pending_;
};

// taskflow/taskflow#255: an idle executor burns a core. Right: idle means under 2 % of one core.
TEST(Idle, ASchedulerWithNothingToDoCostsNothing) {
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    const clock_item clock;
    heddle::scheduler sched(hosts(8, mode));
    EXPECT_LT(clock.idle_share(1s), 0.02);
  }
}

// The same, after a load that woke every device, TBB's workers and the lanes of the arenas.
TEST(Idle, ASchedulerThatHadWorkCostsNothingAfterwards) {
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    const clock_item clock;
    heddle::scheduler sched(hosts(8, mode));
    most_threads_under_load(sched);
    clock.idle_share(50ms);  // what it still does ends by itself
    EXPECT_LT(clock.idle_share(1s), 0.02);
  }
}

// The same, while everybody waits for something: items inside items, submitters for room, threads in drain.
TEST(Idle, WaitersOfEveryKindCostNothing) {
  for (const auto mode : {heddle::host_mode::immediate, heddle::host_mode::deferred}) {
    const clock_item clock;
    auto options = hosts(4, mode);
    options.queue_capacity = 2;
    heddle::scheduler sched(options);
    std::latch gate(1);
    auto blocked = sched.submit([&] { gate.wait(); }, heddle::route::on(0));
    std::atomic<int> arrived{0};
    auto nested = sched.submit(
        [&] {
          arrived.fetch_add(1);
          sched.submit([] {}, heddle::route::on(0)).get();
        },
        heddle::route::on(1));
    while (arrived.load() < 1 || sched.stats().devices[0].started == 0) std::this_thread::yield();
    while (sched.stats().queued < 1) std::this_thread::yield();
    std::thread drainer([&] { sched.drain(); });
    std::thread getter([&] { sched.submit([] {}, heddle::route::on(0)).get(); });
    while (sched.stats().queued < 2) std::this_thread::yield();
    std::thread submitter([&] { sched.submit([] {}, heddle::route::on(0)).get(); });
    clock.idle_share(50ms);
    EXPECT_LT(clock.idle_share(1s), 0.02);
    gate.count_down();
    drainer.join();
    getter.join();
    submitter.join();
    nested.get();
  }
}

// The same, for devices that are disabled while others' items wait.
TEST(Idle, ADisabledDeviceCostsNothingWhileItemsWaitForOthers) {
  const clock_item clock;
  heddle::scheduler sched(hosts(2));
  sched.disable(1);
  std::latch gate(1);
  auto blocked = sched.submit([&] { gate.wait(); }, heddle::route::on(0));
  while (sched.stats().devices[0].started == 0) std::this_thread::yield();
  std::vector<heddle::future<void>> waiting;
  for (int k = 0; k < 10; ++k) waiting.push_back(sched.submit([] {}));
  clock.idle_share(50ms);
  EXPECT_LT(clock.idle_share(1s), 0.02);
  gate.count_down();
  for (auto& each : waiting) each.get();
}

// areal-project/AReaL#38, Planet-AI-GmbH/tfaip#8: unset, empty and "-1" are confused. Right: host devices are
// none of that variable's business.
TEST(NoGpu, TheVariableOfCudaDoesNotChangeTheHostDevices) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  const auto devices = heddle::list_devices(heddle::backend::host);
  for (const char* value : {"", "-1", "NoDevFiles", "0", "1,2", "GPU-8932f937"}) {
    ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", value, 1), 0);
    EXPECT_EQ(heddle::list_devices(heddle::backend::host), devices);
    heddle::scheduler_options options;
    options.use = heddle::backend::host;
    heddle::scheduler sched(options);
    EXPECT_EQ(sched.devices().size(), devices.size());
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
}

// apache/mxnet#1385: a build cannot even start where there is no GPU. Right: `automatic` starts host devices,
// CUDA by name is refused by name, and the host backend loads nothing of CUDA.
TEST(NoGpu, AutomaticStartsAndCudaByNameIsRefusedWhereThereIsNone) {
  try {
    (void)heddle::list_devices(heddle::backend::cuda);
    GTEST_SKIP() << "this machine has GPUs";
  } catch (const heddle::no_device&) {  // of a build with the CUDA driver, too
  }
  for (const auto& device : heddle::list_devices()) EXPECT_EQ(device.kind, heddle::backend::host);
  heddle::scheduler sched(heddle::scheduler_options{});
  EXPECT_EQ(sched.submit([] { return heddle::this_device::info().kind; }).get(), heddle::backend::host);
  EXPECT_THROW(static_cast<void>(heddle::list_devices(heddle::backend::cuda)), heddle::no_device);
  heddle::scheduler_options options;
  options.use = heddle::backend::cuda;
  EXPECT_THROW(heddle::scheduler{options}, heddle::no_device);
}

}  // namespace
