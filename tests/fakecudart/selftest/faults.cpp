// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "machine_test.hpp"

namespace {

class Faults : public machine_test {};

TEST_F(Faults, AnInjectionFailsTheCallsThatItNames) {
  fakecuda_inject("cudaEventCreateWithFlags", -1, 1, 1, cudaErrorMemoryAllocation);
  make_event();
  cudaEvent_t refused = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&refused, 0), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  make_event();
}

TEST_F(Faults, AnInjectionOnAnyCallSparesReleases) {
  const cudaStream_t stream = bare_stream();
  fakecuda_inject(nullptr, -1, 0, 100, cudaErrorUnknown);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorUnknown);
  fakecuda_clear_injections();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Faults, AnInjectionMayNameADevice) {
  fakecuda_inject("cudaFree", 1, 0, 1, cudaErrorUnknown);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorUnknown);
}

TEST_F(Faults, AFaultSticksToItsDeviceAndStopsItsWork) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t stream = make_stream();
  std::atomic<int> ran{0};
  fakecuda_async_fault(1, 1, cudaErrorIllegalAddress);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(ran.load(), 1) << "a host function is not called after an error";
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorIllegalAddress);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  fakecuda_set_sticky(1, 0);
}

TEST_F(Faults, ACallbackGetsTheError) {
  const cudaStream_t stream = make_stream();
  fakecuda_gate(0, 1);
  std::atomic<int> status{-1};
  ASSERT_EQ(
      cudaStreamAddCallback(
          stream,
          [](cudaStream_t, cudaError_t error, void* out) { *static_cast<std::atomic<int>*>(out) = error; },
          &status, 0),
      cudaSuccess);
  fakecuda_set_sticky(0, cudaErrorLaunchFailure);
  fakecuda_gate(0, 0);
  fakecuda_drain();
  EXPECT_EQ(status.load(), cudaErrorLaunchFailure);
  fakecuda_set_sticky(0, 0);
}

TEST_F(Faults, WithoutADriverEveryCallSaysSoForEver) {
  fakecuda_driver_version(0);
  int count = -77;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(count, -77);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
  int version = -1;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 0);
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
}

TEST_F(Faults, AnOlderDriverIsInsufficientToo) {
  fakecuda_driver_version(12040);
  int count = -77;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  int version = -1;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 12040);
}

TEST_F(Faults, TheStubAnswersWithItsOwnError) {
  fakecuda_stub_library(1);
  int version = -1;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaErrorStubLibrary);
  EXPECT_EQ(cudaGetDeviceCount(&version), cudaErrorStubLibrary);
}

TEST_F(Faults, AnUnloadingRuntimeAnswersNothingElse) {
  const cudaStream_t stream = make_stream();
  fakecuda_unloading(1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorCudartUnloading);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorCudartUnloading);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCudartUnloading);
  fakecuda_unloading(0);
}

TEST_F(Faults, AMachineWithoutDevicesSaysSo) {
  fakecuda_reset(0, 0);
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
}

TEST_F(Faults, AForkedChildCannotGoOn) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(cudaGetDeviceCount(&count) == cudaErrorInitializationError ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
