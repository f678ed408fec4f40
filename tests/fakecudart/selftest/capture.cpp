// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "machine_test.hpp"

namespace {

class Capture : public machine_test {
 protected:
  void begin(cudaStreamCaptureMode mode) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(stream_, count, &ran_), cudaSuccess);
  }
  void expect_end(cudaError_t status) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), status);
    if (graph != nullptr) {
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
  }
  static cudaError_t allocate_and_free() {
    void* memory = nullptr;
    if (const cudaError_t status = cudaMalloc(&memory, 1)) return status;
    return cudaFree(memory);
  }
  static void relax() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  }

  void SetUp() override {
    machine_test::SetUp();
    stream_ = make_stream();
  }
  cudaStream_t stream_ = nullptr;
  std::atomic<int> ran_{0};
};

TEST_F(Capture, AGraphReplaysWhatWasRecorded) {
  begin(cudaStreamCaptureModeThreadLocal);
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(ran_.load(), 0);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(ran_.load(), 2);
}

TEST_F(Capture, AGlobalCaptureForbidsUnsafeCallsToOtherThreadsAndBreaksOfThem) {
  begin(cudaStreamCaptureModeGlobal);
  on_new_thread([] { EXPECT_EQ(allocate_and_free(), cudaErrorStreamCaptureUnsupported); });
  expect_misuse("cudaMalloc while a stream capture");
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ARelaxedThreadMayCallWhatItLikes) {
  begin(cudaStreamCaptureModeGlobal);
  on_new_thread([] {
    relax();
    EXPECT_EQ(allocate_and_free(), cudaSuccess);
  });
  expect_end(cudaSuccess);
}

TEST_F(Capture, AThreadLocalCaptureConcernsItsThreadOnly) {
  begin(cudaStreamCaptureModeThreadLocal);
  on_new_thread([] { EXPECT_EQ(allocate_and_free(), cudaSuccess); });
  EXPECT_EQ(allocate_and_free(), cudaErrorStreamCaptureUnsupported);
  expect_misuse("cudaMalloc while a stream capture");
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, OnlyTheThreadThatBeganMayEndUnlessRelaxed) {
  begin(cudaStreamCaptureModeThreadLocal);
  on_new_thread([&] {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureWrongThread);
  });
  expect_end(cudaSuccess);
}

TEST_F(Capture, ASynchroniseBreaksTheCapture) {
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, AForkedStreamHasToBeJoined) {
  const cudaStream_t side = make_stream();
  const cudaEvent_t event = make_event();
  begin(cudaStreamCaptureModeThreadLocal);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(side, count, &ran_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);

  begin(cudaStreamCaptureModeThreadLocal);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, event, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(side, count, &ran_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, side), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, event, 0), cudaSuccess);
  expect_end(cudaSuccess);
}

TEST_F(Capture, TheLegacyStreamCannotBeCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed), cudaErrorStreamCaptureUnsupported);
}

}  // namespace
