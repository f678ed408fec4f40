// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "entry.hpp"

namespace fake {

namespace {

// Errors that no call of cudaGetLastError takes away: those of the process, and those of a failed device.
cudaError_t lasting_error() {
  if (const cudaError_t state = process_state()) return state;
  const device* const current = self().top();
  return current == nullptr ? cudaSuccess : current->sticky_error();
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaGetLastError() {
  if (const cudaError_t refused = enter(entry_of<"cudaGetLastError">); refused == cudaErrorNotPermitted)
    return refused;
  const cudaError_t noted = self().last;
  self().last = cudaSuccess;
  const cudaError_t lasting = lasting_error();
  return lasting != cudaSuccess ? lasting : noted;
}

cudaError_t cudaPeekAtLastError() {
  if (const cudaError_t refused = enter(entry_of<"cudaPeekAtLastError">); refused == cudaErrorNotPermitted)
    return refused;
  const cudaError_t lasting = lasting_error();
  return lasting != cudaSuccess ? lasting : self().last;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define FAKECUDA_ERROR(name) \
  case name:                 \
    return #name;
#include "errors.inc"
#undef FAKECUDA_ERROR
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
}
