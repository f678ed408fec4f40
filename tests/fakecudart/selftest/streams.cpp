// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "machine_test.hpp"

namespace {

class Streams : public machine_test {
 protected:
  void SetUp() override {
    machine_test::SetUp();
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }

  struct step {
    std::atomic<int>* order;
    int at;
  };
  static void note_order(void* given) {
    auto* const mine = static_cast<step*>(given);
    mine->at = mine->order->fetch_add(1) + 1;
  }
};

TEST_F(Streams, AClosedGateHoldsWorkBack) {
  const cudaStream_t stream = make_stream();
  std::atomic<int> ran{0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(fakecuda_live(0).ops_queued, 1);
  EXPECT_EQ(ran.load(), 0);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST_F(Streams, DestroyLetsQueuedWorkFinish) {
  const cudaStream_t stream = bare_stream();
  std::atomic<int> ran{0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(fakecuda_live(0).streams, 0);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(ran.load(), 1);
}

TEST_F(Streams, ADestroyedStreamIsRefused) {
  const cudaStream_t stream = bare_stream();
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  expect_misuse("destroyed stream");
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  std::atomic<int> order{0};
  step first{&order, 0};
  step second{&order, 0};
  step third{&order, 0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaLaunchHostFunc(blocking, note_order, &first), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, note_order, &second), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(blocking, note_order, &third), cudaSuccess);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(first.at, 1);
  EXPECT_EQ(second.at, 2);
  EXPECT_EQ(third.at, 3);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(Streams, PrioritiesAreClampedSilently) {
  int lowest = 1;
  int highest = 1;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&lowest, &highest), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest - 100), cudaSuccess);
  int given = 1;
  EXPECT_EQ(cudaStreamGetPriority(stream, &given), cudaSuccess);
  EXPECT_EQ(given, highest);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Streams, PerThreadStreamsDiffer) {
  unsigned long long mine = 0;
  unsigned long long other = 0;
  ASSERT_EQ(cudaStreamGetId(cudaStreamPerThread, &mine), cudaSuccess);
  on_new_thread([&] { EXPECT_EQ(cudaStreamGetId(cudaStreamPerThread, &other), cudaSuccess); });
  EXPECT_NE(mine, other);
  EXPECT_EQ(fakecuda_live(-1).streams, 0);
}

TEST_F(Streams, NotReadyStaysInTheLastErrorUnlessSwitchedOff) {
  const cudaStream_t stream = make_stream();
  std::atomic<int> ran{0};
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaLaunchHostFunc(stream, count, &ran), cudaSuccess);
  ASSERT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  fakecuda_not_ready_sticks(0);
  ASSERT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST_F(Streams, HarshModeRunsHostFunctionsOneAtATime) {
  fakecuda_harsh(1);
  struct {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
  } seen;
  const auto body = [](void* given) {
    auto* const state = static_cast<decltype(seen)*>(given);
    if (state->inside.fetch_add(1) != 0) state->overlapped = true;
    for (int turn = 0; turn < 100; ++turn) std::this_thread::yield();
    state->inside.fetch_sub(1);
  };
  const cudaStream_t one = make_stream();
  const cudaStream_t two = make_stream();
  for (int round = 0; round < 5; ++round)
    for (const cudaStream_t each : {one, two}) ASSERT_EQ(cudaLaunchHostFunc(each, body, &seen), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_FALSE(seen.overlapped.load());
}

}  // namespace
