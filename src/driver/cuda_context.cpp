// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_context.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "driver/cuda_error.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

// The few calls of the driver API, found at run time, so that nothing is linked to libcuda.
struct entry_points {
  CUresult (*device_get)(CUdevice*, int) = nullptr;
  CUresult (*retain)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release)(CUdevice) = nullptr;
  CUresult (*push)(CUcontext) = nullptr;
  CUresult (*pop)(CUcontext*) = nullptr;
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*event_query)(CUevent) = nullptr;
  std::string missing;
};

template <class F>
void find(entry_points& all, F*& function, const char* name) {
  constexpr unsigned version = 12000;  // the ABI that the types above are of
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess && found != nullptr) {
    function = reinterpret_cast<F*>(found);
    return;
  }
  clear_own_error(status);
  all.missing += (all.missing.empty() ? "" : ", ") + std::string(name);
}

entry_points find_all() {
  entry_points all;
  find(all, all.device_get, "cuDeviceGet");
  find(all, all.retain, "cuDevicePrimaryCtxRetain");
  find(all, all.release, "cuDevicePrimaryCtxRelease");
  find(all, all.push, "cuCtxPushCurrent");
  find(all, all.pop, "cuCtxPopCurrent");
  find(all, all.get_current, "cuCtxGetCurrent");
  find(all, all.event_query, "cuEventQuery");
  return all;
}

// Not looked up again after a failure of one device: what a driver lacks, it lacks for all.
const entry_points& driver_api() {
  static const entry_points all = find_all();
  return all;
}

}  // namespace

cuda_context::cuda_context(int cuda_device, int id) {
  const auto& api = driver_api();
  if (!api.missing.empty()) {
    throw device_error(id, "cudaGetDriverEntryPointByVersion",
                       "the CUDA driver lacks " + api.missing + "; install a newer one");
  }
  CUresult status = api.device_get(&device_, cuda_device);
  if (status == CUDA_SUCCESS) status = api.retain(&context_, device_);
  if (status == CUDA_SUCCESS) return;
  // The two APIs share their numbers.
  check_cuda(static_cast<cudaError_t>(status), "cuDevicePrimaryCtxRetain", id);
}

cuda_context::~cuda_context() { (void)driver_api().release(device_); }

// The handles of the two APIs are the same, and so are their numbers.
cudaError_t query_event(cudaEvent_t event) noexcept {
  return static_cast<cudaError_t>(driver_api().event_query(event));
}

bool cuda_context::push() const noexcept { return driver_api().push(context_) == CUDA_SUCCESS; }

void cuda_context::pop() const noexcept {
  CUcontext popped = nullptr;
  (void)driver_api().pop(&popped);
}

bool cuda_context::is_current() const noexcept {
  CUcontext found = nullptr;
  return driver_api().get_current(&found) == CUDA_SUCCESS && found == context_;
}

}  // namespace heddle::detail
