// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace heddle::detail {

/// Leaves CUDA's last-error slot as the caller's own code filled it: takes out `status` if a call of heddle
/// has just put it there.
void clear_own_error(cudaError_t status) noexcept;

/// "an illegal memory access was encountered (cudaErrorIllegalAddress)".
std::string cuda_text(cudaError_t status);

/// Throws `device_error` unless `status` is success: `id` is heddle's, `call` names what was called.
void check_cuda(cudaError_t status, const std::string& call, int id);

/// For releases: an error that comes because the process is ending is none.
bool is_unloading(cudaError_t status) noexcept;

}  // namespace heddle::detail
