// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_error.hpp"

#include "heddle/error.hpp"

namespace heddle::detail {

void clear_own_error(cudaError_t status) noexcept {
  if (status != cudaSuccess && cudaPeekAtLastError() == status) (void)cudaGetLastError();
}

std::string cuda_text(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

void check_cuda(cudaError_t status, const std::string& call, int id) {
  if (status == cudaSuccess) return;
  clear_own_error(status);
  throw device_error(id, call, cuda_text(status), static_cast<int>(status), cudaGetErrorName(status));
}

bool is_unloading(cudaError_t status) noexcept { return status == cudaErrorCudartUnloading; }

}  // namespace heddle::detail
