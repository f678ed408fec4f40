// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <exception>
#include <memory>

#include "heddle/heddle.hpp"

namespace heddle::test {

// A host function of CUDA stands for a kernel: it runs in stream order, beside the device thread.
void run_on_cuda_stream(void* native, detail::operation loop) {
  auto owner = std::make_unique<detail::operation>(std::move(loop));
  const cudaError_t status = cudaLaunchHostFunc(
      static_cast<cudaStream_t>(native),
      [](void* it) {
        const std::unique_ptr<detail::operation> mine(static_cast<detail::operation*>(it));
        try {
          // Alone: a worker of TBB's that a device thread had made would help here, where no arena of
          // heddle's gives it a name of its own.
          tbb::task_arena(1).execute([&] { (*mine)(); });
        } catch (...) {
          ADD_FAILURE() << "a body threw, which none can on a GPU";
        }
      },
      owner.get());
  if (status == cudaSuccess) {
    (void)owner.release();
  } else {
    throw device_error(-1, "cudaLaunchHostFunc", cudaGetErrorString(status), status,
                       cudaGetErrorName(status));
  }
}

}  // namespace heddle::test
