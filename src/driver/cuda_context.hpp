// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace heddle::detail {

/// The primary context of one CUDA device, shared with all other CUDA code of the process, held as long as
/// this lives. Threads that are no device threads act for the device by pushing it: to save and restore by
/// cudaGetDevice and cudaSetDevice would create a context on device 0.
class cuda_context {
 public:
  /// Throws `device_error`, `id` being heddle's.
  cuda_context(int cuda_device, int id);
  cuda_context(const cuda_context&) = delete;
  cuda_context& operator=(const cuda_context&) = delete;
  ~cuda_context();

  bool push() const noexcept;
  void pop() const noexcept;
  bool is_current() const noexcept;

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// cudaEventQuery, but that it leaves the last-error slot alone: "not ready" is no error, and what the user's
/// own code left in the slot is the user's. Any thread; needs a `cuda_context` to be there.
cudaError_t query_event(cudaEvent_t) noexcept;

/// Pushes a context for a scope, unless it is current already. Tests as false where that failed.
class cuda_scope {
 public:
  explicit cuda_scope(const cuda_context& context) noexcept
      : context_(context), was_current_(context.is_current()), entered_(was_current_ || context.push()) {}
  cuda_scope(const cuda_scope&) = delete;
  cuda_scope& operator=(const cuda_scope&) = delete;
  ~cuda_scope() {
    if (entered_ && !was_current_) context_.pop();
  }
  explicit operator bool() const noexcept { return entered_; }

 private:
  const cuda_context& context_;
  const bool was_current_, entered_;
};

}  // namespace heddle::detail
