// SPDX-License-Identifier: Apache-2.0
// Bugs on purpose: each must be found. If one of these tests fails, the double hides that bug in heddle, too.
#include <cstdio>
#include <string>

#include "machine_test.hpp"

namespace {

class Planted : public machine_test {};

TEST_F(Planted, ALeakShows) {
  leaves_things();
  bare_stream();
  bare_event();
  bare_memory(10);
  bare_pinned(10);
  bare_pool(1);
  const fakecuda_live_t left = fakecuda_live(-1);
  EXPECT_EQ(left.streams, 1);
  EXPECT_EQ(left.events, 1);
  EXPECT_EQ(left.device_allocs, 1);
  EXPECT_EQ(left.host_allocs, 1);
  EXPECT_EQ(left.pools, 1);
  EXPECT_EQ(left.device_bytes, 10U);
}

TEST_F(Planted, AnEventRecordedOnAnotherDevicesStreamIsRefused) {
  const cudaEvent_t event = make_event();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t stream = make_stream();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  expect_misuse("event of device 0 recorded on a stream of device 1");
}

TEST_F(Planted, ALaunchIntoAnotherDevicesStreamIsRefused) {
  fakecuda_ignore_missing_twins(1);
  const cudaStream_t stream = make_stream();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel("a kernel", dim3(1), dim3(1), nullptr, 0, stream),
            cudaErrorInvalidResourceHandle);
  expect_misuse("stream of device 0 while device 1 is current");
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel("a kernel", dim3(1), dim3(1), nullptr, 0, stream), cudaSuccess);
}

TEST_F(Planted, APoolOfAnotherDeviceIsRefused) {
  const cudaMemPool_t pool = make_pool(1);
  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaErrorInvalidValue);
  expect_misuse("pool of device 1 made current on device 0");
}

TEST_F(Planted, AUseAfterTheFreeOfAStreamIsSeen) {
  const cudaStream_t stream = make_stream();
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 0, 8, stream), cudaErrorInvalidValue);
  expect_misuse("after cudaFreeAsync");
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  expect_misuse("after cudaFreeAsync");
}

TEST_F(Planted, ACopyThatRunsAfterAnotherStreamsFreeIsSeen) {
  if (thread_sanitizer) GTEST_SKIP() << "it is a race; Races/free_without_wait wants its report";
  if (address_sanitizer) GTEST_SKIP() << "the address sanitizer ends the program at the copy";
  const cudaStream_t stream = make_stream();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t other = make_stream();
  char* const host = make_pinned(8);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  char* const memory = bare_memory(8);
  fakecuda_gate(1, 1);
  ASSERT_EQ(cudaMemcpyAsync(memory, host, 8, cudaMemcpyHostToDevice, other), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  fakecuda_gate(1, 0);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  expect_misuse("after another stream had freed");
}

TEST_F(Planted, ADoubleFreeIsRefused) {
  const cudaStream_t stream = make_stream();
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  expect_misuse("no live allocation");
  char* const other = bare_memory(8);
  ASSERT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaErrorInvalidValue);
  expect_misuse("no live allocation");
  char* const host = bare_pinned(8);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  expect_misuse("no live allocation of this kind");
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(Planted, ACallInAHostFunctionIsRefused) {
  const cudaStream_t stream = make_stream();
  cudaError_t inside = cudaSuccess;
  const auto body = [](void* out) { *static_cast<cudaError_t*>(out) = cudaFree(nullptr); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, body, &inside), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(inside, cudaErrorNotPermitted);
  expect_misuse("cudaFree called from a host function");
}

TEST_F(Planted, SavingAndRestoringTheDeviceMakesAContextOnDeviceZero) {
  on_new_thread([] {
    int saved = -1;
    EXPECT_EQ(cudaGetDevice(&saved), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(saved), cudaSuccess);
  });
  EXPECT_EQ(fakecuda_contexts_made(2), 1);
  EXPECT_EQ(fakecuda_contexts_made(0), 1) << "nobody wanted device 0";
}

// ---- what only a sanitizer can see: a program of its own, which must end with the sanitizer's report

struct ended {
  int status;
  std::string output;
};

ended run_planted(const std::string& bug) {
  // Otherwise the thread sanitizer sleeps for a second after a report.
  const std::string command =
      "TSAN_OPTIONS=\"$TSAN_OPTIONS atexit_sleep_ms=0\" " HEDDLE_PLANTED_PROGRAM " " + bug + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string output;
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, got);
  return {::pclose(pipe), output};
}

void expect_found(const std::string& bug, const std::string& report) {
  const ended run = run_planted(bug);
  EXPECT_NE(run.status, 0) << run.output;
  EXPECT_NE(run.output.find(report), std::string::npos) << run.output;
}

class Races : public testing::TestWithParam<const char*> {};

TEST_P(Races, AreReported) {
  if (!thread_sanitizer) GTEST_SKIP() << "needs the thread sanitizer";
  expect_found(GetParam(), "WARNING: ThreadSanitizer: data race");
}
INSTANTIATE_TEST_SUITE_P(Planted, Races,
                         testing::Values("no_wait_event", "no_sync", "late_host_write", "free_without_wait",
                                         "use_before_alloc"),
                         [](const auto& given) { return std::string(given.param); });

class BadAddresses : public testing::TestWithParam<const char*> {};

TEST_P(BadAddresses, AreReported) {
  if (!address_sanitizer) GTEST_SKIP() << "needs the address sanitizer";
  expect_found(GetParam(), "AddressSanitizer: use-after-poison");
}
INSTANTIATE_TEST_SUITE_P(Planted, BadAddresses, testing::Values("past_the_end", "kernel_after_free"),
                         [](const auto& given) { return std::string(given.param); });

TEST(PlantedProgram, IsCleanWithoutABug) {
  const ended run = run_planted("correct");
  EXPECT_EQ(run.status, 0) << run.output;
}

}  // namespace
