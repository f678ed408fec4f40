// SPDX-License-Identifier: Apache-2.0
// What nvcc's objects call before main, and what tests register in place of device code.
#include <cuda_runtime_api.h>

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "entry.hpp"
#include "kernels.hpp"

namespace fake {

namespace {

struct code {
  std::shared_mutex mutex;  // readers do not order each other
  std::unordered_map<const void*, kernel*> kernels;
  std::unordered_map<const void*, fakecuda_twin> twins;
};
code& all_code() {
  static auto* const only = new code;
  return *only;
}

}  // namespace

kernel* find_kernel(const void* function) {
  code& known = all_code();
  const std::shared_lock lock(known.mutex);
  const auto found = known.kernels.find(function);
  return found == known.kernels.end() ? nullptr : found->second;
}

void unload_kernels() {
  code& known = all_code();
  const std::shared_lock lock(known.mutex);
  for (const auto& [name, each] : known.kernels) each->loaded.store(0, std::memory_order_relaxed);
}

bool find_twin(const void* host, fakecuda_twin& twin) {
  code& known = all_code();
  const std::shared_lock lock(known.mutex);
  const auto found = known.twins.find(host);
  if (found == known.twins.end()) return false;
  twin = found->second;
  return true;
}

}  // namespace fake

using namespace fake;

extern "C" {

void fakecuda_register_twin(const void* host_stub, const char*, fakecuda_twin twin) {
  code& known = all_code();
  const std::unique_lock lock(known.mutex);
  known.twins[host_stub] = twin;
}

void** __cudaRegisterFatBinary(void* binary) { return new void*(binary); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) { delete handle; }
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}

void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  code& known = all_code();
  const std::unique_lock lock(known.mutex);
  kernel*& entry = known.kernels[host];
  if (entry != nullptr) return;  // an inline template in several objects
  auto* const made = new kernel;
  made->host = host;
  made->name = name == nullptr ? "?" : name;
  entry = made;
  known.kernels[made] = made;
}

cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* host) {
  return call<"cudaGetKernel">([&]() -> cudaError_t {
    kernel* const found = find_kernel(host);
    *out = reinterpret_cast<cudaKernel_t>(found);
    return found == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* out, const void* host) { return __cudaGetKernel(out, host); }
}
