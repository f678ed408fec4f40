// SPDX-License-Identifier: Apache-2.0
#include "contexts.hpp"

#include <cuda_runtime_api.h>

#include "device.hpp"
#include "entry.hpp"
#include "machine.hpp"
#include "thread_state.hpp"

namespace fake {

cudaError_t make_context(device& on, bool for_runtime) {
  primary_context& context = on.context;
  if (const int refused = on.refuse.load(std::memory_order_relaxed)) return static_cast<cudaError_t>(refused);
  if (!context.active.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(context.making);
    if (!context.active.load(std::memory_order_relaxed)) {
      sleep_us(the_machine().slow_init_us.load(std::memory_order_relaxed));
      context.made.fetch_add(1, std::memory_order_relaxed);
      context.active.store(true, std::memory_order_relaxed);
    }
  }
  if (for_runtime) context.runtime_hold.store(true, std::memory_order_relaxed);
  return cudaSuccess;
}

cudaError_t current_context(device*& current) {
  thread_state& thread = self();
  current = thread.top();
  if (current == nullptr) {
    device* const chosen = the_machine().at(thread.chosen);
    if (chosen == nullptr) return cudaErrorInvalidDevice;
    if (const cudaError_t status = make_context(*chosen, true)) return status;
    thread.bind(*chosen);
    current = chosen;
  }
  if (!current->context.active.load(std::memory_order_relaxed)) {
    misuse("the current context, of device %d, was released", current->id);
    return cudaErrorDeviceUninitialized;
  }
  return current->sticky_error();
}

bool release_context(device& on) {
  primary_context& context = on.context;
  const std::lock_guard lock(context.making);
  if (context.refs.load(std::memory_order_relaxed) == 0) {
    misuse("the primary context of device %d is released more often than it was retained", on.id);
    return false;
  }
  if (context.refs.fetch_sub(1, std::memory_order_release) > 1) return true;
  if (context.runtime_hold.load(std::memory_order_relaxed)) return true;
  context.active.store(false, std::memory_order_relaxed);
  const std::lock_guard device_lock(on.mutex);
  if (!on.streams.empty() || on.events.load(std::memory_order_relaxed) != 0)
    misuse("the primary context of device %d ended with live streams or events", on.id);
  return true;
}

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  return call<"cudaGetDevice">([&] {
    *device = self().current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call<"cudaSetDevice">([&]() -> cudaError_t {
    fake::device* const chosen = the_machine().at(device);
    if (chosen == nullptr) return cudaErrorInvalidDevice;
    if (const cudaError_t status = make_context(*chosen, true)) return status;
    self().chosen = device;
    self().bind(*chosen);
    return chosen->sticky_error();
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call<"cudaInitDevice">([&]() -> cudaError_t {
    fake::device* const chosen = the_machine().at(device);
    if (chosen == nullptr) return cudaErrorInvalidDevice;
    if (const cudaError_t status = make_context(*chosen, true)) return status;
    return chosen->sticky_error();
  });
}

cudaError_t cudaDeviceReset() {
  return call<"cudaDeviceReset">([] {
    misuse("cudaDeviceReset destroys the primary context under its other users");
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned) {
  return call<"cudaSetDeviceFlags">([] { return cudaSuccess; });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call<"cudaGetDeviceFlags">([&] {
    *flags = 0;
    return cudaSuccess;
  });
}
}
