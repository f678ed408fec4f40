// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <atomic>

#include "machine_test.hpp"

namespace {

class EntryPoints : public machine_test {
 protected:
  using value_function = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
};

TEST_F(EntryPoints, AStreamWaitsForAWordThatTheHostWrites) {
  const cudaStream_t stream = make_stream();
  auto* const word = new (make_pinned(sizeof(unsigned))) std::atomic<unsigned>(0);
  const auto address = reinterpret_cast<CUdeviceptr>(word);
  auto* const wait_value = driver_function<value_function>("cuStreamWaitValue32");
  ASSERT_EQ(wait_value(stream, address, 7, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  word->store(7);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(driver_function<value_function>("cuStreamWriteValue32")(stream, address, 9, 0), CUDA_SUCCESS);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(word->load(), 9U);
}

TEST_F(EntryPoints, ADriverCallMakesNoContext) {
  auto* const wait_value = driver_function<value_function>("cuStreamWaitValue32");
  on_new_thread([&] { EXPECT_EQ(wait_value(nullptr, 0, 0, 0), CUDA_ERROR_INVALID_CONTEXT); });
  EXPECT_EQ(fakecuda_live(-1).contexts, 0);
}

TEST_F(EntryPoints, ADriverErrorLeavesTheRuntimesLastErrorAlone) {
  CUdevice device = -1;
  EXPECT_EQ((driver_function<CUresult(CUdevice*, int)>("cuDeviceGet")(&device, 99)),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
