// SPDX-License-Identifier: Apache-2.0
// The kernels of gpu_facts.
#pragma once

#include <cuda_runtime_api.h>

namespace heddle::facts {

enum class fault { address, misaligned, trap };

/// All return the launch's status, and none waits.
cudaError_t launch_empty(cudaStream_t on);
void launch_empty_by_syntax(cudaStream_t on);  ///< by <<<>>>; its status is in the last error only
cudaError_t launch_fault(fault which, cudaStream_t on);
const void* fault_stub(fault which);
/// Ends after `milliseconds`, or once `*stop` is not 0; `stop` may be null.
cudaError_t launch_spin(int milliseconds, const volatile int* stop, cudaStream_t on);
cudaError_t launch_store(int* where, int value, cudaStream_t on);

/// What `launch_empty` launches, for cudaGetKernel.
const void* empty_stub();

/// Kernels that nothing else uses, so that each can be launched for the first time; 0 to 3.
inline constexpr int fresh_kernels = 4;
const void* fresh_stub(int which);

/// Planted for compute-sanitizer: writes one past the end of `count` numbers; a race in shared memory.
cudaError_t launch_past_the_end(int* numbers, int count, cudaStream_t on);
cudaError_t launch_race(int* sum, cudaStream_t on);

}  // namespace heddle::facts
