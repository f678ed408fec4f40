// SPDX-License-Identifier: Apache-2.0
// What heddle asks of CUDA for an item.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class Calls : public cuda_double {
 protected:
  static void run(scheduler& sched, int items, void (*body)(device_context&)) {
    std::vector<future<void>> all;
    for (int k = 0; k < items; ++k) all.push_back(sched.submit(body));
    for (auto& each : all) each.get();
  }
};

TEST_F(Calls, OfItemsThatTouchNoStreamAreNone) {
  scheduler sched(gpus({0, 1}));
  run(sched, 100, [](device_context&) {});
  const long before = fakecuda_calls(nullptr);
  run(sched, 1000, [](device_context&) {});
  // The driver's cuCtxGetCurrent, once an item, tells whether it left another context current.
  EXPECT_EQ(fakecuda_calls(nullptr) - before, fakecuda_calls("cuCtxGetCurrent") == 0 ? 0 : 1000);
  EXPECT_EQ(fakecuda_calls("cudaEventRecord"), 0);
}

TEST_F(Calls, OfItemsWithDeviceWorkAreTheirOwnOneRecordAndThePolls) {
  scheduler sched(gpus({0, 1}));
  const auto body = [](device_context& c) {
    c.stream().issue([](void* native) {
      (void)cudaLaunchHostFunc(
          static_cast<cudaStream_t>(native), [](void*) {}, nullptr);
    });
  };
  run(sched, 200, body);
  const std::vector<std::string> never = {"cudaSetDevice",
                                          "cudaGetDevice",
                                          "cudaDeviceSynchronize",
                                          "cudaStreamSynchronize",
                                          "cudaMalloc",
                                          "cudaMallocFromPoolAsync",
                                          "cudaHostAlloc",
                                          "cudaFree",
                                          "cudaEventCreateWithFlags",
                                          "cudaStreamCreateWithPriority"};
  std::vector<long> before;
  for (const auto& each : never) before.push_back(fakecuda_calls(each.c_str()));
  const long records = fakecuda_calls("cudaEventRecord");
  const long polls = fakecuda_calls("cuEventQuery");
  const long all = fakecuda_calls(nullptr);
  const long current = fakecuda_calls("cuCtxGetCurrent");
  constexpr int items = 1000;
  run(sched, items, body);
  for (std::size_t k = 0; k < never.size(); ++k)
    EXPECT_EQ(fakecuda_calls(never[k].c_str()), before[k]) << never[k];
  EXPECT_LE(fakecuda_calls("cudaEventRecord") - records, items);
  const long new_polls = fakecuda_calls("cuEventQuery") - polls;
  EXPECT_LE(fakecuda_calls(nullptr) - all,
            2 * items + new_polls + (fakecuda_calls("cuCtxGetCurrent") - current));
}

// Source: arrayfire/arrayfire#926: the legacy stream serialises all. It would wait for the blocked stream
// here.
TEST_F(Calls, NeverUseTheLegacyStream) {
  scheduler sched(gpus({0}));
  sched
      .submit([](device_context& c) {
        cudaStream_t own = static_cast<cudaStream_t>(c.native_stream());
        unsigned flags = 0;
        EXPECT_EQ(cudaStreamGetFlags(own, &flags), cudaSuccess);
        EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
        EXPECT_NE(own, nullptr);
      })
      .get();
}

// Source: NTIA/scos-sensor, NVlabs/cuda-oxide#761: priorities the wrong way round.
TEST_F(Calls, GiveItemsOfHighPriorityTheStreamThatGoesFirst) {
  scheduler sched(gpus({0}));
  const auto priority = [](device_context& c) {
    int value = 99;
    (void)cudaStreamGetPriority(static_cast<cudaStream_t>(c.native_stream()), &value);
    return value;
  };
  int least = 0;
  int greatest = 0;
  as_device(sched, 0, [&] { (void)cudaDeviceGetStreamPriorityRange(&least, &greatest); });
  ASSERT_LT(greatest, least);
  EXPECT_EQ(sched.submit(priority, route::any().priority(5)).get(), greatest);
  EXPECT_EQ(sched.submit(priority, route::any().priority(-5)).get(), least);
  EXPECT_EQ(sched.submit(priority).get(), least);
}

// Sources: TheHPXProject/hpx#6284, intel/llvm#1850: events reused across GPUs, or made for each launch. With
// HEDDLE_LONG_TESTS, a million items.
TEST_F(Calls, ReuseEventsOnTheirOwnDevice) {
  machine(8);
  scheduler sched(gpus({0, 1, 2, 3, 4, 5, 6, 7}));
  const int rounds = std::getenv("HEDDLE_LONG_TESTS") != nullptr ? 2000 : 50;
  constexpr int a_round = 500;
  long most = 0;
  for (int round = 0; round < rounds; ++round) {
    run(sched, a_round, [](device_context& c) {
      c.stream().issue([](void* native) {
        (void)cudaLaunchHostFunc(
            static_cast<cudaStream_t>(native), [](void*) {}, nullptr);
      });
      c.wait(c.record());
    });
    most = std::max(most, fakecuda_live(-1).events);
  }
  EXPECT_LE(fakecuda_calls("cudaEventRecord"), rounds * a_round) << "one an item";
  EXPECT_GT(fakecuda_calls("cudaEventRecord"), 0);
  EXPECT_LE(most, 8 * 4 * 32) << "events in all, of 8 devices with 4 streams";
}

}  // namespace
}  // namespace heddle::test
