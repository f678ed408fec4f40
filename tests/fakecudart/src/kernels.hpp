// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "fakecudart.h"

namespace fake {

/// A registered __global__ function; its address is the cudaKernel_t.
struct kernel {
  const void* host = nullptr;
  std::string name;
  std::atomic<unsigned long long> loaded{0};  // a bit per device, of the first 64
};

/// By host stub or by handle; null if unknown.
kernel* find_kernel(const void* function);
/// After a reset no kernel was used yet.
void unload_kernels();
bool find_twin(const void* host, fakecuda_twin& twin);

}  // namespace fake
