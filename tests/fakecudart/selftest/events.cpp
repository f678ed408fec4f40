// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "machine_test.hpp"

namespace {

class Events : public machine_test {};

TEST_F(Events, AnEventThatWasNeverRecordedIsDone) {
  const cudaEvent_t event = make_event();
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
}

TEST_F(Events, AnEventIsDoneWithTheWorkBeforeIt) {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t event = make_event();
  std::atomic<int> ran{0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(ran.load(), 1);
}

TEST_F(Events, AStreamWaitsForAnEventOfAnotherDevice) {
  const cudaStream_t first = make_stream();
  const cudaEvent_t event = make_event();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t second = make_stream();
  std::atomic<int> ran{0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(second, count, &ran), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(ran.load(), 1);
}

TEST_F(Events, AWaitKeepsTheRecordOfItsTime) {
  const cudaStream_t first = make_stream();
  const cudaEvent_t event = make_event();
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t second = make_stream();
  fakecuda_gate(1, 1);
  ASSERT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  fakecuda_gate(1, 0);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess) << "does not wait for the later record";
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  fakecuda_gate(0, 0);
}

TEST_F(Events, ADestroyedEventIsRefused) {
  const cudaEvent_t event = bare_event();
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  expect_misuse("destroyed event");
}

TEST_F(Events, TimeIsMeasuredOnlyWhereItWasAskedFor) {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t without = make_event();
  cudaEvent_t first = nullptr;
  cudaEvent_t second = nullptr;
  ASSERT_EQ(cudaEventCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&second), cudaSuccess);
  for (const cudaEvent_t each : {first, second, without})
    ASSERT_EQ(cudaEventRecord(each, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, second), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, without), cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t each : {first, second}) EXPECT_EQ(cudaEventDestroy(each), cudaSuccess);
}

}  // namespace
