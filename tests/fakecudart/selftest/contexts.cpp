// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include "machine_test.hpp"

namespace {

class Contexts : public machine_test {
 protected:
  using retain_function = CUresult(CUcontext*, CUdevice);
  using device_function = CUresult(CUdevice);
  using context_function = CUresult(CUcontext);
  using out_function = CUresult(CUcontext*);

  static CUcontext retain(int device) {
    CUcontext made = nullptr;
    EXPECT_EQ(driver_function<retain_function>("cuDevicePrimaryCtxRetain")(&made, device), CUDA_SUCCESS);
    return made;
  }
  static CUresult release(int device) {
    return driver_function<device_function>("cuDevicePrimaryCtxRelease")(device);
  }
  static CUresult push(CUcontext context) {
    return driver_function<context_function>("cuCtxPushCurrent_v2")(context);
  }
  static CUresult pop(CUcontext* out = nullptr) {
    return driver_function<out_function>("cuCtxPopCurrent_v2")(out);
  }
  static CUcontext current() {
    CUcontext found = nullptr;
    EXPECT_EQ(driver_function<out_function>("cuCtxGetCurrent")(&found), CUDA_SUCCESS);
    return found;
  }
  static int runtime_device() {
    int found = -1;
    EXPECT_EQ(cudaGetDevice(&found), cudaSuccess);
    return found;
  }
};

TEST_F(Contexts, SetDeviceMakesTheContextOfThatDeviceOnly) {
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(runtime_device(), 2);
  EXPECT_EQ(fakecuda_contexts_made(2), 1);
  EXPECT_EQ(fakecuda_live(-1).contexts, 1);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(fakecuda_contexts_made(2), 1);
}

TEST_F(Contexts, EachThreadHasItsOwnCurrentDevice) {
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
  on_new_thread([] {
    EXPECT_EQ(runtime_device(), 0);
    EXPECT_EQ(fakecuda_context_depth(), 0);
  });
  EXPECT_EQ(runtime_device(), 3);
}

TEST_F(Contexts, AskingForTheDeviceMakesNoContext) {
  on_new_thread([] {
    runtime_device();
    EXPECT_EQ(current(), nullptr);
  });
  EXPECT_EQ(fakecuda_live(-1).contexts, 0);
}

TEST_F(Contexts, ACallThatNeedsAContextMakesThatOfDeviceZero) {
  on_new_thread([] {
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_NE(current(), nullptr);
  });
  EXPECT_EQ(fakecuda_contexts_made(0), 1);
}

TEST_F(Contexts, InitDeviceDoesNotBind) {
  on_new_thread([] {
    EXPECT_EQ(cudaInitDevice(1, 0, 0), cudaSuccess);
    EXPECT_EQ(current(), nullptr);
  });
  EXPECT_EQ(fakecuda_contexts_made(1), 1);
}

TEST_F(Contexts, PushAndPopAreAStackThatTheRuntimeFollows) {
  const CUcontext first = retain(1);
  const CUcontext second = retain(2);
  on_new_thread([&] {
    EXPECT_EQ(push(first), CUDA_SUCCESS);
    EXPECT_EQ(push(second), CUDA_SUCCESS);
    EXPECT_EQ(fakecuda_context_depth(), 2);
    EXPECT_EQ(runtime_device(), 2);
    CUcontext popped = nullptr;
    EXPECT_EQ(pop(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, second);
    EXPECT_EQ(runtime_device(), 1);
    EXPECT_EQ(pop(), CUDA_SUCCESS);
    EXPECT_EQ(current(), nullptr);
  });
  EXPECT_EQ(fakecuda_contexts_made(0), 0);
  EXPECT_EQ(release(1), CUDA_SUCCESS);
  EXPECT_EQ(release(2), CUDA_SUCCESS);
}

TEST_F(Contexts, WorkUnderAPushedContextTouchesNoOtherDevice) {
  const CUcontext context = retain(3);
  on_new_thread([&] {
    EXPECT_EQ(push(context), CUDA_SUCCESS);
    const cudaStream_t stream = bare_stream();
    int device = -1;
    EXPECT_EQ(cudaStreamGetDevice(stream, &device), cudaSuccess);
    EXPECT_EQ(device, 3);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(pop(), CUDA_SUCCESS);
  });
  EXPECT_EQ(fakecuda_live(-1).contexts, 1);
  EXPECT_EQ(release(3), CUDA_SUCCESS);
}

TEST_F(Contexts, SetDeviceReplacesTheTopOfTheStack) {
  const CUcontext context = retain(1);
  on_new_thread([&] {
    EXPECT_EQ(push(context), CUDA_SUCCESS);
    EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
    EXPECT_EQ(fakecuda_context_depth(), 1);
    EXPECT_EQ(runtime_device(), 2);
    EXPECT_EQ(pop(), CUDA_SUCCESS);
  });
  EXPECT_EQ(release(1), CUDA_SUCCESS);
}

TEST_F(Contexts, ReferencesAreCountedApartFromTheRuntimesHold) {
  retain(1);
  retain(1);
  EXPECT_EQ(fakecuda_primary_refs(1), 2);
  EXPECT_EQ(release(1), CUDA_SUCCESS);
  EXPECT_EQ(fakecuda_live(1).contexts, 1);
  EXPECT_EQ(release(1), CUDA_SUCCESS);
  EXPECT_EQ(fakecuda_live(1).contexts, 0);

  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(fakecuda_primary_refs(2), 0);
  retain(2);
  EXPECT_EQ(release(2), CUDA_SUCCESS);
  EXPECT_EQ(fakecuda_live(2).contexts, 1);
}

TEST_F(Contexts, AReleaseTooManyIsRefused) {
  EXPECT_EQ(release(1), CUDA_ERROR_INVALID_CONTEXT);
  expect_misuse("more often than it was retained");
}

TEST_F(Contexts, APopOfAnEmptyStackIsRefused) {
  on_new_thread([] { EXPECT_EQ(pop(), CUDA_ERROR_INVALID_CONTEXT); });
  expect_misuse("empty stack");
}

TEST_F(Contexts, APopOfWhatNobodyPushedIsMisuse) {
  on_new_thread([] {
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(pop(), CUDA_SUCCESS);
  });
  expect_misuse("nobody pushed");
}

TEST_F(Contexts, APushOfAReleasedContextIsRefused) {
  const CUcontext context = retain(1);
  EXPECT_EQ(release(1), CUDA_SUCCESS);
  EXPECT_EQ(push(context), CUDA_ERROR_INVALID_CONTEXT);
  expect_misuse("does not live");
}

TEST_F(Contexts, ADeviceThatFailsLeavesTheOthersAlone) {
  fakecuda_fail_device(1, cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaInitDevice(1, 0, 0), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(fakecuda_contexts_made(1), 0);
}

}  // namespace
