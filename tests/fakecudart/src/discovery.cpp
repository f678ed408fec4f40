// SPDX-License-Identifier: Apache-2.0
// What there is to know about the machine without a context.
#include <cuda_runtime_api.h>
#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "entry.hpp"

namespace fake {

namespace {

int attribute_of(const device& which, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return 132;
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrComputeCapabilityMinor:
      return 0;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 48 * 1024;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return 227 * 1024;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrAsyncEngineCount:
      return 3;
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
      return 1;
    case cudaDevAttrHostNumaId:
      return which.numa.load(std::memory_order_relaxed);
    default:
      return 0;
  }
}

void describe(const device& which, cudaDeviceProp& properties) {
  std::memset(&properties, 0, sizeof properties);
  std::snprintf(properties.name, sizeof properties.name, "%s", which.name.c_str());
  std::memcpy(properties.uuid.bytes, which.uuid, sizeof which.uuid);
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (std::sscanf(which.pci.c_str(), "%x:%x:%x", &domain, &bus, &slot) == 3) {
    properties.pciDomainID = static_cast<int>(domain);
    properties.pciBusID = static_cast<int>(bus);
    properties.pciDeviceID = static_cast<int>(slot);
  }
  properties.major = 9;
  properties.multiProcessorCount = 132;
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.sharedMemPerBlock = std::size_t{48} * 1024;
  properties.asyncEngineCount = 3;
  properties.totalGlobalMem = which.capacity;
  properties.concurrentKernels = 1;
  properties.unifiedAddressing = 1;
  properties.memoryPoolsSupported = 1;
  properties.hostNumaId = which.numa.load(std::memory_order_relaxed);
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  const machine& here = the_machine();
  if (here.unloading.load(std::memory_order_relaxed)) return fail(cudaErrorCudartUnloading);
  if (here.stub_library.load(std::memory_order_relaxed)) return fail(cudaErrorStubLibrary);
  *version = here.driver_version.load(std::memory_order_relaxed);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call<"cudaGetDeviceCount">([&]() -> cudaError_t {
    *count = static_cast<int>(the_machine().devices.size());
    return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  return call<"cudaDeviceGetAttribute">([&]() -> cudaError_t {
    const device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    *value = attribute_of(*named, attribute);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  return call<"cudaGetDeviceProperties">([&]() -> cudaError_t {
    const device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    describe(*named, *properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int ordinal) {
  return call<"cudaDeviceGetPCIBusId">([&]() -> cudaError_t {
    const device* const named = the_machine().at(ordinal);
    if (named == nullptr) return cudaErrorInvalidDevice;
    if (text == nullptr || length < 0 || named->pci.size() >= static_cast<std::size_t>(length))
      return cudaErrorInvalidValue;
    std::snprintf(text, static_cast<std::size_t>(length), "%s", named->pci.c_str());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* ordinal, const char* text) {
  return call<"cudaDeviceGetByPCIBusId">([&]() -> cudaError_t {
    if (ordinal == nullptr || text == nullptr) return cudaErrorInvalidValue;
    for (const auto& each : the_machine().devices) {
      if (::strcasecmp(each->pci.c_str(), text) != 0) continue;
      *ordinal = each->id;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}
}
