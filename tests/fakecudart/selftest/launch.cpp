// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <numeric>

#include "hostcuda.hpp"
#include "machine_test.hpp"

namespace {

__global__ void add(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void sum(const int* from, int* to) {
  __shared__ int partial[64];
  partial[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *to = partial[0];
}

struct owner {
  std::shared_ptr<int> alive;
};
__global__ void keep([[maybe_unused]] owner held) {}
__global__ void unknown() {}

template <class... A>
cudaError_t launch(void (*kernel)(A...), unsigned grid, unsigned block, cudaStream_t stream, A... values) {
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(grid);
  how.blockDim = dim3(block);
  how.stream = stream;
  void* arguments[] = {&values..., nullptr};
  return cudaLaunchKernelExC(&how, reinterpret_cast<const void*>(kernel), arguments);
}

class Launch : public machine_test {
 protected:
  void SetUp() override {
    machine_test::SetUp();
    hostcuda::adopt<add>(add, "add");
    hostcuda::adopt<sum, true>(sum, "sum");
    hostcuda::adopt<keep>(keep, "keep");
    stream_ = make_stream();
    memory_ = reinterpret_cast<int*>(make_memory(65 * sizeof(int)));
  }
  cudaStream_t stream_ = nullptr;
  int* memory_ = nullptr;
};

TEST_F(Launch, EveryThreadOfTheGridRuns) {
  ASSERT_EQ(cudaMemsetAsync(memory_, 0, 64 * sizeof(int), stream_), cudaSuccess);
  ASSERT_EQ(launch(add, 4, 16, stream_, memory_, 3), cudaSuccess);
  int seen[64] = {};
  ASSERT_EQ(cudaMemcpyAsync(seen, memory_, sizeof seen, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  for (const int each : seen) EXPECT_EQ(each, 3);
  EXPECT_EQ(fakecuda_kernels_run(0), 1);
}

TEST_F(Launch, ThreadsOfABlockMeetAtBarriers) {
  int numbers[64];
  std::iota(std::begin(numbers), std::end(numbers), 1);
  ASSERT_EQ(cudaMemcpyAsync(memory_, numbers, sizeof numbers, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  ASSERT_EQ(launch(sum, 1, 64, stream_, static_cast<const int*>(memory_), memory_ + 64), cudaSuccess);
  int seen = 0;
  ASSERT_EQ(cudaMemcpyAsync(&seen, memory_ + 64, sizeof seen, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(seen, 64 * 65 / 2);
}

TEST_F(Launch, ByHandleAndByStubIsTheSame) {
  cudaKernel_t handle = nullptr;
  ASSERT_EQ(cudaGetKernel(&handle, reinterpret_cast<const void*>(add)), cudaSuccess);
  int one = 1;
  void* arguments[] = {&memory_, &one};
  EXPECT_EQ(cudaLaunchKernel(handle, dim3(1), dim3(1), arguments, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(add), dim3(1), dim3(1), arguments, 0, stream_),
            cudaSuccess);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, handle), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(fakecuda_kernels_run(0), 2);
}

TEST_F(Launch, ArgumentsAreCopiedOnceAndDieOnTheStream) {
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = value;
  fakecuda_gate(0, 1);
  ASSERT_EQ(launch(keep, 1, 1, stream_, owner{std::move(value)}), cudaSuccess);
  EXPECT_EQ(watched.use_count(), 1) << "the launch's own copy";
  fakecuda_gate(0, 0);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_TRUE(watched.expired());
}

TEST_F(Launch, AnImpossibleShapeIsRefused) {
  EXPECT_EQ(launch(add, 1, 1025, stream_, memory_, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(add, 0, 1, stream_, memory_, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST_F(Launch, AKernelWithoutATwinIsRefusedUnlessTold) {
  EXPECT_EQ(launch(unknown, 1, 1, stream_), cudaErrorInvalidDeviceFunction);
  expect_misuse("no host twin");
  fakecuda_ignore_missing_twins(1);
  EXPECT_EQ(launch(unknown, 1, 1, stream_), cudaSuccess);
}

TEST_F(Launch, InHarshModeTheFirstLaunchOnADeviceWaitsForIt) {
  fakecuda_harsh(1);
  fakecuda_gate(0, 1);
  std::atomic<bool> launched{false};
  ASSERT_EQ(cudaLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            cudaSuccess);
  std::thread launcher([&] {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(launch(keep, 1, 1, stream_, owner{}), cudaSuccess);
    launched = true;
  });
  while (fakecuda_live(0).ops_queued < 2) std::this_thread::yield();  // the launcher's mark
  EXPECT_FALSE(launched.load());
  fakecuda_gate(0, 0);
  launcher.join();
  EXPECT_TRUE(launched.load());
  EXPECT_EQ(launch(keep, 1, 1, stream_, owner{}), cudaSuccess) << "and only the first";
}

}  // namespace
