// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <vector>

#include "machine_test.hpp"

namespace {

class Copies : public machine_test {};

TEST_F(Copies, BytesGoThereAndBack) {
  const cudaStream_t stream = make_stream();
  char* const device = make_memory(16);
  char* const host = make_pinned(16);
  std::memcpy(host, "there and back", 15);
  ASSERT_EQ(cudaMemcpyAsync(device, host, 16, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  std::memset(host, 0, 16);
  ASSERT_EQ(cudaMemcpyAsync(host, device, 16, cudaMemcpyDefault, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(std::string(host), "there and back");
}

TEST_F(Copies, FreshMemoryIsNotZero) {
  char* const device = make_memory(1);
  char seen = 0;
  ASSERT_EQ(cudaMemcpy(&seen, device, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_NE(seen, 0);
}

TEST_F(Copies, APinnedTargetShowsGarbageUntilTheStreamGotThere) {
  if (thread_sanitizer) GTEST_SKIP() << "the early read is the race that the thread sanitizer is to report";
  const cudaStream_t stream = make_stream();
  char* const device = make_memory(1);
  char* const host = make_pinned(1);
  ASSERT_EQ(cudaMemset(device, 5, 1), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  *host = 5;  // the answer of the round before
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_NE(*host, 5);
  fakecuda_gate(0, 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*host, 5);
}

TEST_F(Copies, PinnedBytesAreReadWhenTheStreamGetsThere) {
  const cudaStream_t stream = make_stream();
  char* const device = make_memory(1);
  char* const host = make_pinned(1);
  *host = 1;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* at) { *static_cast<char*>(at) = 2; }, host),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(device, host, 1, cudaMemcpyHostToDevice, stream), cudaSuccess);
  char seen = 0;
  ASSERT_EQ(cudaMemcpyAsync(&seen, device, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(seen, 2);
}

TEST_F(Copies, PageableBytesAreTakenBeforeTheCallReturns) {
  const cudaStream_t stream = make_stream();
  char* const device = make_memory(1);
  char pageable = 1;
  fakecuda_gate(0, 1);
  ASSERT_EQ(cudaMemcpyAsync(device, &pageable, 1, cudaMemcpyHostToDevice, stream), cudaSuccess);
  pageable = 2;
  fakecuda_gate(0, 0);
  ASSERT_EQ(cudaMemcpyAsync(&pageable, device, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(pageable, 1);  // and a pageable target blocks
}

TEST_F(Copies, RegisteredMemoryIsPinned) {
  std::vector<char> memory(64);
  ASSERT_EQ(cudaHostRegister(memory.data(), memory.size(), 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(memory.data(), memory.size(), 0), cudaErrorHostMemoryAlreadyRegistered);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(memory.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(memory.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(Copies, RowsKeepTheirPitch) {
  char* const device = make_memory(8);
  ASSERT_EQ(cudaMemset(device, '.', 8), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DAsync(device, 4, "abcdef", 3, 2, 2, cudaMemcpyHostToDevice, nullptr), cudaSuccess);
  char seen[9] = {};
  ASSERT_EQ(cudaMemcpy(seen, device, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::string(seen), "ab..de..");
}

TEST_F(Copies, ACopyPastTheEndIsRefused) {
  char* const device = make_memory(8);
  char host[16] = {};
  EXPECT_EQ(cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_misuse("leaves its allocation");
}

TEST_F(Copies, AHostAddressIsNoDeviceAddress) {
  char one = 0;
  char other = 0;
  EXPECT_EQ(cudaMemcpy(&one, &other, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_misuse("wrong kind");
}

TEST_F(Copies, MemoryCountsAgainstTheDevicesCapacity) {
  char* const device = bare_memory(device_bytes - 1000);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 2000), cudaErrorMemoryAllocation);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, 1000U);
  EXPECT_EQ(total_bytes, device_bytes);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  fakecuda_limit_memory(0, 10);
  EXPECT_EQ(cudaMalloc(&more, 11), cudaErrorMemoryAllocation);
}

}  // namespace
