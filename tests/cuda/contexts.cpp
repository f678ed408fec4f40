// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/error_log.hpp"
#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class Contexts : public cuda_double {};

int current_device() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

// Sources: arbor#655, NVIDIA's "always set the current device": the device is set on the main thread only.
TEST_F(Contexts, AreMadeOnTheDevicesAskedForAlone) {
  scheduler sched(gpus({1, 2, 3}));
  fakecuda_log(1);
  for (auto& each : sched.broadcast([](device_context& c) {
         EXPECT_EQ(current_device(), c.info().cuda_device);
         const auto numbers = c.scratch<int>(100);
         c.enqueue([numbers] { numbers[99] = 1; });
       })) {
    each.get();
  }
  fakecuda_log_entry_t entry{};
  for (long k = 0; fakecuda_log_entry(k, &entry) != 0; ++k) EXPECT_GT(entry.device, 0) << entry.api;
  fakecuda_log(0);
  EXPECT_EQ(fakecuda_contexts_made(0), 0);
}

// Source: oneTBB#1012: a worker serves one arena, later another. The item's id and CUDA's device go together.
TEST_F(Contexts, FollowTbbsThreadsFromArenaToArena) {
  scheduler sched(gpus({0, 1, 2, 3}));
  std::atomic<int> wrong{0};
  std::vector<future<void>> all;
  for (int k = 0; k < 400; ++k) {
    all.push_back(sched.submit(
        [&wrong] {
          const int mine = *this_device::info().cuda_device;
          tbb::parallel_for(0, 32, [&](int) {
            if (this_device::info().cuda_device != mine || current_device() != mine) ++wrong;
          });
        },
        route::on(k < 150   ? 0
                  : k < 300 ? 1
                            : k % 4)));
  }
  for (auto& each : all) each.get();
  EXPECT_EQ(wrong, 0);
}

// Source: pytorch#94864: a guard that restores "device 0" makes a context there.
TEST_F(Contexts, OfUsersThreadsComeAndGo) {
  scheduler sched(gpus({1}));
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(as_device(sched, 0, [] { return current_device(); }), 1);
        EXPECT_EQ(fakecuda_context_depth(), 0);
        const device_guard guard(sched, 0);
        EXPECT_EQ(current_device(), 1);
      }
      EXPECT_EQ(fakecuda_context_depth(), 0);
    });
  }
  for (auto& each : threads) each.join();
}

TEST_F(Contexts, OfUsersThreadsAreRestoredWhenTheCallThrows) {
  scheduler sched(gpus({1, 2}));
  EXPECT_EQ(cudaSetDevice(2), cudaSuccess);  // the application's own choice
  EXPECT_THROW(as_device(sched, 0, [] { throw std::runtime_error("out"); }), std::runtime_error);
  EXPECT_EQ(current_device(), 2);
  {
    const device_guard outer(sched, 0);
    const device_guard inner(sched, 1);
    EXPECT_EQ(current_device(), 2);
  }
  EXPECT_EQ(current_device(), 2);
  std::thread([&] { sched.join(); }).join();
  leave_unchecked();  // this thread keeps the application's context
}

TEST_F(Contexts, ThatAnItemLeftAreRepairedAndReported) {
  auto chosen = gpus({0, 1});
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  sched.submit([] { (void)cudaSetDevice(1); }, route::on(0).label("library call")).get();
  EXPECT_EQ(sched.submit(current_device, route::on(0)).get(), 0);
  sched.join();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log.events()[0].message.find("library call"), std::string::npos) << log.events()[0].message;
  EXPECT_EQ(log.events()[0].device, 0);
}

// Source: AliceO2Group/AliceO2#3148: one unusable GPU aborts all.
TEST_F(Contexts, ThatCannotBeMadeStopAStrictSchedulerByName) {
  fakecuda_fail_device(2, cudaErrorDevicesUnavailable);
  try {
    const scheduler sched(gpus({0, 1, 2, 3}));
    FAIL();
  } catch (const no_device& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("device 2"), std::string::npos) << what;
    EXPECT_NE(what.find("cudaErrorDevicesUnavailable"), std::string::npos) << what;
  }
}

TEST_F(Contexts, ThatCannotBeMadeLeaveTheDeviceOutOfALenientScheduler) {
  fakecuda_fail_device(2, cudaErrorDevicesUnavailable);
  auto chosen = gpus({0, 1, 2, 3});
  chosen.at_start = on_start_failure::lenient;
  const error_log log;
  chosen.on_error = log;
  scheduler sched(chosen);
  ASSERT_EQ(sched.devices().size(), 3u);
  EXPECT_EQ(sched.devices()[2].id, 3) << "ids stay as they were given";
  ASSERT_EQ(sched.failed().size(), 1u);
  EXPECT_EQ(sched.failed()[0].info.cuda_device, 2);
  EXPECT_EQ(sched.submit(current_device, route::on(3)).get(), 3);
  EXPECT_EQ(log.size(), 1u);
}

// Source: nlesc-recruit/cudawrappers#306: second contexts beside the primary one; references that are never
// given back.
TEST_F(Contexts, AreThePrimaryOnesAndGivenBack) {
  {
    scheduler sched(gpus({0}));
    scheduler second(gpus({0}));
    EXPECT_EQ(fakecuda_primary_refs(0), 2);
    EXPECT_EQ(fakecuda_contexts_made(0), 1);
    EXPECT_EQ(sched.submit(current_device).get(), 0);
  }
  EXPECT_EQ(fakecuda_primary_refs(0), 0);
  EXPECT_EQ(fakecuda_calls("cudaDeviceReset"), 0)
      << "it would end the context of others, ginkgo-project/ginkgo#241";
}

}  // namespace
}  // namespace heddle::test
