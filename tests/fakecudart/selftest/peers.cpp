// SPDX-License-Identifier: Apache-2.0
#include "machine_test.hpp"

namespace {

class Peers : public machine_test {
 protected:
  static int can_access(int from, int to) {
    int can = -1;
    EXPECT_EQ(cudaDeviceCanAccessPeer(&can, from, to), cudaSuccess);
    return can;
  }
  static void grant(cudaMemPool_t pool, int device, cudaMemAccessFlags flags) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = flags;
    EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
  }
  static char first_byte(const char* memory) {
    char seen = 0;
    EXPECT_EQ(cudaMemcpy(&seen, memory, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    return seen;
  }
  /// Memory of `device` whose bytes are 7; leaves the device current.
  char* sevens(int device) {
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
    char* const memory = make_memory(8);
    EXPECT_EQ(cudaMemset(memory, 7, 8), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return memory;
  }
};

TEST_F(Peers, TheMatrixIsTheTests) {
  fakecuda_set_peer(0, 2, 0);
  EXPECT_EQ(can_access(0, 1), 1);
  EXPECT_EQ(can_access(0, 2), 0);
  EXPECT_EQ(can_access(2, 0), 1);
  EXPECT_EQ(can_access(1, 1), 0);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

TEST_F(Peers, ACopyWithoutARouteStillArrives) {
  fakecuda_set_peer(0, 1, 0);
  fakecuda_set_peer(1, 0, 0);
  char* const from = sevens(0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  char* const to = make_memory(8);
  const cudaStream_t stream = make_stream();
  ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first_byte(to), 7);
  ASSERT_EQ(cudaMemsetAsync(to, 0, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(to, from, 8, cudaMemcpyDefault, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first_byte(to), 7);
}

TEST_F(Peers, ABrokenRouteCorruptsDirectCopiesOnly) {
  fakecuda_corrupt_peer(0, 1, 1);
  EXPECT_EQ(can_access(0, 1), 1);
  char* const from = sevens(0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  char* const to = make_memory(8);
  const cudaStream_t stream = make_stream();
  ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(first_byte(to), 7) << "staged through the host";
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(to, 1, from, 0, 8, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_NE(first_byte(to), 7);
}

TEST_F(Peers, PoolMemoryAsksForThePoolsAccessWhateverPeersAreEnabled) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const cudaStream_t stream = make_stream();
  const cudaMemPool_t pool = make_pool(0);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 8, pool, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  const cudaStream_t other = make_stream();
  grant(pool, 1, cudaMemAccessFlagsProtReadWrite);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, 8, other), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  cudaMemAccessFlags flags{};
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  location.id = 1;
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, pool, &location), cudaSuccess);
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);

  grant(pool, 1, cudaMemAccessFlagsProtNone);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, 8, other), cudaErrorIllegalAddress);
  expect_misuse("grants it no access");
  EXPECT_EQ(cudaStreamSynchronize(other), cudaErrorIllegalAddress) << "sticky";

  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  fakecuda_set_sticky(1, 0);
}

}  // namespace
