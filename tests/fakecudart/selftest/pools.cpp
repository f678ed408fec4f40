// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "machine_test.hpp"

namespace {

class Pools : public machine_test {
 protected:
  static std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
    std::uint64_t value = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, which, &value), cudaSuccess);
    return value;
  }
  static void set_threshold(cudaMemPool_t pool, std::uint64_t bytes) {
    EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes), cudaSuccess);
  }
  static void* allocate(cudaMemPool_t pool, std::size_t bytes, cudaStream_t stream) {
    void* made = nullptr;
    EXPECT_EQ(cudaMallocFromPoolAsync(&made, bytes, pool, stream), cudaSuccess);
    return made;
  }
};

TEST_F(Pools, FreedMemoryGoesBackAtTheNextSynchroniseUnlessTheThresholdKeepsIt) {
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = make_pool(0);
  EXPECT_EQ(cudaFreeAsync(allocate(pool, 1000, stream), stream), cudaSuccess);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrUsedMemCurrent), 0U);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 1000U);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 0U);

  set_threshold(pool, UINT64_MAX);
  EXPECT_EQ(cudaFreeAsync(allocate(pool, 1000, stream), stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 1000U);
  EXPECT_EQ(fakecuda_live(0).device_bytes, 0U);
  EXPECT_EQ(fakecuda_live(0).reserved_bytes, 1000U);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 0U);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemHigh), 1000U);
}

TEST_F(Pools, KeptMemoryCountsAgainstTheCapacityUntilItIsTrimmed) {
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = make_pool(0);
  set_threshold(pool, UINT64_MAX);
  EXPECT_EQ(cudaFreeAsync(allocate(pool, device_bytes, stream), stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  void* other = nullptr;
  EXPECT_EQ(cudaMalloc(&other, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&other, 1), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
}

TEST_F(Pools, TheSameStreamReusesAtOnceAnotherOnlyWhenTheFirstIsDone) {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other = make_stream();
  const cudaMemPool_t pool = make_pool(0);
  set_threshold(pool, UINT64_MAX);
  fakecuda_gate(0, 1);
  void* const first = allocate(pool, 1000, stream);
  EXPECT_EQ(cudaFreeAsync(first, stream), cudaSuccess);
  void* const elsewhere = allocate(pool, 1000, other);
  EXPECT_NE(elsewhere, first);
  void* const again = allocate(pool, 1000, stream);
  EXPECT_EQ(again, first);
  EXPECT_EQ(cudaFreeAsync(again, stream), cudaSuccess);
  fakecuda_gate(0, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  void* const moved = allocate(pool, 1000, other);
  EXPECT_EQ(moved, first);
  EXPECT_EQ(cudaFreeAsync(moved, other), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(elsewhere, other), cudaSuccess);
}

TEST_F(Pools, ADestroyedPoolLastsUntilItsMemoryIsFreed) {
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = bare_pool(0);
  void* const memory = allocate(pool, 1000, stream);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(fakecuda_live(0).pools, 0);
  EXPECT_EQ(fakecuda_live(0).reserved_bytes, 1000U);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(fakecuda_live(0).reserved_bytes, 0U);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  expect_misuse("destroyed memory pool");
}

TEST_F(Pools, MallocAsyncTakesTheCurrentPoolOfTheStreamsDevice) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = bare_pool(1);
  ASSERT_EQ(cudaDeviceSetMemPool(1, pool), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 10, stream), cudaSuccess);
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrUsedMemCurrent), 10U);
  EXPECT_EQ(fakecuda_live(1).device_allocs, 1);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  cudaMemPool_t current = nullptr;
  cudaMemPool_t standard = nullptr;
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&standard, 1), cudaSuccess);
  EXPECT_EQ(current, standard);
}

TEST_F(Pools, ATouchOfTheDefaultPoolIsCounted) {
  cudaMemPool_t standard = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 1), cudaSuccess);
  EXPECT_EQ(fakecuda_default_pool_touched(1), 0);
  set_threshold(standard, 1);
  EXPECT_EQ(fakecuda_default_pool_touched(1), 1);
  EXPECT_EQ(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);
  expect_misuse("default pool");
}

TEST_F(Pools, FreeTakesPoolMemoryAndFreeAsyncThatOfMalloc) {
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = make_pool(0);
  void* const from_pool = allocate(pool, 10, stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(from_pool), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(bare_memory(10), stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(fakecuda_live(0).reserved_bytes, 0U);
}

}  // namespace
