// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class CudaErrors : public cuda_double {
 protected:
  static void put_work(device_context& c) {
    c.stream().issue([](void* native) {
      (void)cudaLaunchHostFunc(
          static_cast<cudaStream_t>(native), [](void*) {}, nullptr);
    });
  }
};

// Source: charmplusplus/charm#3938: a poll loop takes an error for "not yet".
TEST_F(CudaErrors, OfDeviceWorkReachTheFuturePromptly) {
  leave_unchecked();  // the device is beyond use
  scheduler sched(gpus({0, 1}));
  fakecuda_async_fault(0, 0, cudaErrorIllegalAddress);
  auto f = sched.submit(put_work, route::on(0));
  ASSERT_TRUE(f.wait_for(std::chrono::seconds(10)));
  try {
    f.get();
    FAIL();
  } catch (const device_error& e) {
    EXPECT_EQ(e.device(), 0);
    EXPECT_EQ(e.code(), 700);
    EXPECT_EQ(e.name(), "cudaErrorIllegalAddress");
  }
  auto next = sched.submit(put_work, route::on(0));
  ASSERT_TRUE(next.wait_for(std::chrono::seconds(10)));
  EXPECT_THROW(next.get(), device_error);
  EXPECT_NO_THROW(sched.submit(put_work, route::on(1)).get()) << "the other device goes on";
}

// Source: pytorch#61554: "not ready" left in the last-error slot, where the next check of it fails.
TEST_F(CudaErrors, ThatAreNoneLeaveNothingInTheSlot) {
  fakecuda_not_ready_sticks(1);
  scheduler sched(gpus({0}));
  for (int k = 0; k < 50; ++k) {
    fakecuda_gate(0, 1);
    auto slow = sched.submit(put_work);
    EXPECT_FALSE(slow.wait_for(std::chrono::milliseconds(1)));
    EXPECT_EQ(sched.submit([] { return cudaPeekAtLastError(); }).get(), cudaSuccess);
    fakecuda_gate(0, 0);
    slow.get();
  }
}

// Source: torch/cutorch#114: an error of one call is found by an unrelated check.
TEST_F(CudaErrors, OfTheUsersOwnCallsAreNeitherBlamedNorEaten) {
  scheduler sched(gpus({0, 1}));
  auto twice = sched.submit(
      [] {
        (void)cudaDeviceEnablePeerAccess(1, 0);
        (void)cudaDeviceEnablePeerAccess(1, 0);
      },
      route::on(0));
  EXPECT_NO_THROW(twice.get());
  EXPECT_NO_THROW(sched.submit(put_work, route::on(0)).get());
  std::vector<int> numbers(10);
  sched
      .submit(
          [&](device_context& c) {
            const device_buffer<int> buffer(c, 10);
            c.copy(buffer, numbers);
          },
          route::on(0))
      .get();
  EXPECT_EQ(sched.submit([] { return cudaGetLastError(); }, route::on(0)).get(),
            cudaErrorPeerAccessAlreadyEnabled);
}

TEST_F(CudaErrors, OfHeddlesOwnCallsDoNotStayInTheSlot) {
  scheduler sched(gpus({0}));
  fakecuda_limit_memory(0, 1000);
  EXPECT_THROW(sched.submit([](device_context& c) { (void)c.scratch<char>(5000); }).get(),
               out_of_device_memory);
  fakecuda_inject("cudaMemcpyAsync", 0, 0, 1, cudaErrorInvalidValue);
  std::vector<int> a(1);
  std::vector<int> b(1);
  EXPECT_THROW(sched.submit([&](device_context& c) { c.copy(a, b); }).get(), device_error);
  EXPECT_EQ(sched.submit([] { return cudaPeekAtLastError(); }).get(), cudaSuccess);
}

TEST_F(CudaErrors, OfARecordFailTheItem) {
  scheduler sched(gpus({0}));
  fakecuda_inject("cudaEventRecord", 0, 0, 1, cudaErrorInvalidResourceHandle);
  EXPECT_THROW(sched.submit(put_work).get(), device_error);
  EXPECT_NO_THROW(sched.submit(put_work).get());
}

TEST_F(CudaErrors, OfACaptureThatWasLeftOpenFailTheItem) {
  scheduler sched(gpus({0}));
  auto f = sched.submit([](device_context& c) {
    EXPECT_EQ(cudaStreamBeginCapture(static_cast<cudaStream_t>(c.native_stream()),
                                     cudaStreamCaptureModeThreadLocal),
              cudaSuccess);
    put_work(c);
  });
  try {
    f.get();
    FAIL();
  } catch (const device_error& e) {
    EXPECT_NE(std::string(e.what()).find("capturing"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(sched.submit(put_work).get());
  EXPECT_EQ(fakecuda_live(-1).graphs, 0);
}

// Source: vllm#48053, llama.cpp#14033: what other threads do in the background ruins a capture.
TEST_F(CudaErrors, OfACaptureOfTheApplicationDoNotComeFromHeddle) {
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    scheduler sched(gpus({0}));
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaStream_t own = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(own, mode), cudaSuccess);
    for (int k = 0; k < 50; ++k) {
      sched
          .submit([](device_context& c) {
            put_work(c);
            (void)c.scratch<int>(100);
          })
          .get();
    }
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(own, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(own), cudaSuccess);
  }
  leave_unchecked();  // this thread has a context of its own
}

TEST_F(CudaErrors, OfStreamsOnOtherThreadsNameBoth) {
  scheduler sched(gpus({0, 1}));
  std::optional<stream> foreign;
  sched.submit([&](device_context& c) { foreign = c.stream(); }, route::on(0)).get();
  try {
    sched.submit([&](device_context& c) { c.join(*foreign); }, route::on(1)).get();
    FAIL();
  } catch (const invalid_option& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("device 0"), std::string::npos) << what;
    EXPECT_NE(what.find("device 1"), std::string::npos) << what;
  }
}

// A body that g++ made. The tests of the contract have a way round; this file is compiled as users' files
// are.
TEST_F(CudaErrors, OfBodiesWithoutDeviceCodeSayHowToCompileThem) {
  scheduler sched(gpus({0}));
  try {
    sched.submit([](device_context& c) { c.launch(10, [](std::int64_t) {}); }).get();
    FAIL();
  } catch (const no_device_code& e) {
    EXPECT_NE(std::string(e.what()).find("nvcc"), std::string::npos) << e.what();
  }
}

// The order of stream work: a host function waits for the device work before it.
TEST_F(CudaErrors, NeverComeFromHostFunctionsThatRunTooEarly) {
  scheduler sched(gpus({0, 1}));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> order{0};
    std::atomic<int> seen_by_host{0};
    int seen_by_device = 0;
    struct step {
      std::atomic<int>& order;
      int& seen;
    };
    step last{order, seen_by_device};
    fakecuda_gate(0, 1);
    auto f = sched.submit(
        [&](device_context& c) {
          c.stream().issue([&](void* native) {
            (void)cudaLaunchHostFunc(
                static_cast<cudaStream_t>(native),
                [](void* it) { static_cast<std::atomic<int>*>(it)->fetch_add(1); }, &order);
          });
          c.enqueue([&] { seen_by_host = order.fetch_add(1) + 1; });
          c.stream().issue([&](void* native) {
            (void)cudaLaunchHostFunc(
                static_cast<cudaStream_t>(native),
                [](void* it) {
                  static_cast<step*>(it)->seen = static_cast<step*>(it)->order.fetch_add(1) + 1;
                },
                &last);
          });
        },
        route::on(0));
    EXPECT_FALSE(f.wait_for(std::chrono::milliseconds(1)));
    EXPECT_EQ(seen_by_host, 0);
    fakecuda_gate(0, 0);
    f.get();
    EXPECT_EQ(seen_by_host, 2);
    EXPECT_EQ(seen_by_device, 3);
  }
}

// The same for work that the user's own code put on the stream.
TEST_F(CudaErrors, NeverComeFromHostFunctionsThatRunBeforeNativeWork) {
  scheduler sched(gpus({0}));
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> native_done{false};
    bool seen = false;
    fakecuda_gate(0, 1);
    auto f = sched.submit([&](device_context& c) {
      (void)cudaLaunchHostFunc(
          static_cast<cudaStream_t>(c.native_stream()),
          [](void* it) { static_cast<std::atomic<bool>*>(it)->store(true); }, &native_done);
      c.enqueue([&] { seen = native_done; });
    });
    EXPECT_FALSE(f.wait_for(std::chrono::milliseconds(1)));
    fakecuda_gate(0, 0);
    f.get();
    EXPECT_TRUE(seen);
  }
}

// Source: iree-org/iree#15673: a completion callback that issues CUDA work deadlocks.
TEST_F(CudaErrors, DoNotComeFromContinuationsThatSubmit) {
  scheduler sched(gpus({0, 1}));
  std::vector<future<int>> all;
  for (int k = 0; k < 200; ++k) {
    all.push_back(sched.submit(put_work).then([&sched](device_context& c) {
      put_work(c);
      return sched.submit(put_work).then([] { return 1; }).get();
    }));
  }
  for (auto& each : all) EXPECT_EQ(each.get(), 1);
}

}  // namespace
}  // namespace heddle::test
