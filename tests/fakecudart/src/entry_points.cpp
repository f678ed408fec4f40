// SPDX-License-Identifier: Apache-2.0
// The driver's functions that cudaGetDriverEntryPointByVersion finds. They leave the runtime's last error
// alone.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>

#include "entry.hpp"
#include "event.hpp"

namespace fake {

namespace {

template <api_name Name, class Body>
CUresult driver_call(Body body) {
  if (const cudaError_t refused = enter(entry_of<Name>))
    return static_cast<CUresult>(refused);  // equal numbers
  return body();
}

device* device_of(CUcontext handle) {
  auto* const named = reinterpret_cast<primary_context*>(handle);
  if (named == nullptr || named->magic != primary_context::magic_word) return nullptr;
  return named->active.load(std::memory_order_relaxed) ? named->dev : nullptr;
}

CUcontext handle_of(device* of) {
  return of == nullptr ? nullptr : reinterpret_cast<CUcontext>(&of->context);
}

CUresult init(unsigned) {
  return driver_call<"cuInit">([] { return CUDA_SUCCESS; });
}

CUresult driver_get_version(int* version) {
  *version = the_machine().driver_version.load(std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult device_get(CUdevice* out, int ordinal) {
  return driver_call<"cuDeviceGet">([&] {
    if (the_machine().at(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult device_get_count(int* count) {
  return driver_call<"cuDeviceGetCount">([&] {
    *count = static_cast<int>(the_machine().devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult device_get_uuid(CUuuid* out, CUdevice ordinal) {
  return driver_call<"cuDeviceGetUuid">([&] {
    const device* const named = the_machine().at(ordinal);
    if (named == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    std::memcpy(out->bytes, named->uuid, sizeof named->uuid);
    return CUDA_SUCCESS;
  });
}

CUresult primary_retain(CUcontext* out, CUdevice ordinal) {
  return driver_call<"cuDevicePrimaryCtxRetain">([&] {
    device* const named = the_machine().at(ordinal);
    if (named == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (const cudaError_t status = make_context(*named, false)) return static_cast<CUresult>(status);
    named->context.refs.fetch_add(1, std::memory_order_relaxed);
    *out = handle_of(named);
    return CUDA_SUCCESS;
  });
}

CUresult primary_release(CUdevice ordinal) {
  return driver_call<"cuDevicePrimaryCtxRelease">([&] {
    device* const named = the_machine().at(ordinal);
    if (named == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return release_context(*named) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult primary_get_state(CUdevice ordinal, unsigned* flags, int* active) {
  return driver_call<"cuDevicePrimaryCtxGetState">([&] {
    const device* const named = the_machine().at(ordinal);
    if (named == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = named->context.active.load(std::memory_order_relaxed);
    return CUDA_SUCCESS;
  });
}

CUresult push_current(CUcontext handle) {
  return driver_call<"cuCtxPushCurrent">([&] {
    device* const named = device_of(handle);
    if (named == nullptr) {
      misuse("cuCtxPushCurrent of a context that does not live");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    self().contexts.push_back({named, true});
    return CUDA_SUCCESS;
  });
}

CUresult pop_current(CUcontext* out) {
  return driver_call<"cuCtxPopCurrent">([&] {
    thread_state& thread = self();
    if (thread.contexts.empty()) {
      misuse("cuCtxPopCurrent of an empty stack");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!thread.contexts.back().pushed)
      misuse("cuCtxPopCurrent takes a context of device %d that nobody pushed",
             thread.contexts.back().dev->id);
    if (out != nullptr) *out = handle_of(thread.contexts.back().dev);
    thread.contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult get_current(CUcontext* out) {
  return driver_call<"cuCtxGetCurrent">([&] {
    *out = handle_of(self().top());
    return CUDA_SUCCESS;
  });
}

CUresult set_current(CUcontext handle) {
  return driver_call<"cuCtxSetCurrent">([&] {
    thread_state& thread = self();
    if (handle == nullptr) {
      if (!thread.contexts.empty()) thread.contexts.pop_back();
      return CUDA_SUCCESS;
    }
    device* const named = device_of(handle);
    if (named == nullptr) {
      misuse("cuCtxSetCurrent of a context that does not live");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    thread.bind(*named);
    return CUDA_SUCCESS;
  });
}

CUresult context_get_device(CUdevice* out) {
  return driver_call<"cuCtxGetDevice">([&] {
    const device* const current = self().top();
    if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *out = current->id;
    return CUDA_SUCCESS;
  });
}

CUresult event_query(CUevent handle) {
  return driver_call<"cuEventQuery">([&] { return static_cast<CUresult>(state_of(handle)); });
}

// The driver's calls make no context.
template <class Body>
CUresult on_stream(CUstream handle, Body body) {
  device* const current = self().top();
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  stream* const named = stream_of(handle, *current);
  if (named == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const cudaError_t sticky = named->dev.sticky_error()) return static_cast<CUresult>(sticky);
  body(*named);
  return CUDA_SUCCESS;
}

bool met(std::uint32_t value, std::uint32_t wanted, unsigned flags) {
  switch (flags & 3U) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::int32_t>(value - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    default:
      return ~(value | wanted) != 0;
  }
}

std::atomic_ref<std::uint32_t> word_at(CUdeviceptr address) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(address));
}

CUresult wait_value(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return driver_call<"cuStreamWaitValue32">([&] {
    return on_stream(handle, [&](stream& on) {
      enqueue(on, op_kind::marker, [address, value, flags, by = &on.dev] {
        while (!met(word_at(address).load(std::memory_order_acquire), value, flags) &&
               by->sticky_error() == cudaSuccess)
          std::this_thread::yield();
      });
    });
  });
}

CUresult write_value(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned) {
  return driver_call<"cuStreamWriteValue32">([&] {
    return on_stream(handle, [&](stream& on) {
      enqueue(on, op_kind::work,
              [address, value] { word_at(address).store(value, std::memory_order_release); });
    });
  });
}

template <class Result, class... A>
void* address_of(Result (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

void* entry_point(const std::string& name) {
  static const auto* const table = new std::unordered_map<std::string, void*>{
      {"cuInit", address_of(init)},
      {"cuDriverGetVersion", address_of(driver_get_version)},
      {"cuDeviceGet", address_of(device_get)},
      {"cuDeviceGetCount", address_of(device_get_count)},
      {"cuDeviceGetUuid", address_of(device_get_uuid)},
      {"cuDevicePrimaryCtxRetain", address_of(primary_retain)},
      {"cuDevicePrimaryCtxRelease", address_of(primary_release)},
      {"cuDevicePrimaryCtxGetState", address_of(primary_get_state)},
      {"cuCtxPushCurrent", address_of(push_current)},
      {"cuCtxPopCurrent", address_of(pop_current)},
      {"cuCtxGetCurrent", address_of(get_current)},
      {"cuCtxSetCurrent", address_of(set_current)},
      {"cuCtxGetDevice", address_of(context_get_device)},
      {"cuEventQuery", address_of(event_query)},
      {"cuStreamWaitValue32", address_of(wait_value)},
      {"cuStreamWriteValue32", address_of(write_value)},
  };
  const std::size_t suffix = name.rfind("_v2");
  const bool versioned = suffix != std::string::npos && suffix + 3 == name.size();
  const auto found = table->find(versioned ? name.substr(0, suffix) : name);
  return found == table->end() ? nullptr : found->second;
}

cudaError_t find_entry_point(const char* name, void** function, cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  *function = entry_point(name);
  if (result != nullptr)
    *result = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return call<"cudaGetDriverEntryPointByVersion">([&] { return find_entry_point(name, function, result); });
}
}
