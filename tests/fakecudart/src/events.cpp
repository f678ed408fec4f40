// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <chrono>

#include "entry.hpp"
#include "event.hpp"
#include "pool.hpp"

namespace fake {

event* event_of(cudaEvent_t handle) {
  auto* const named = reinterpret_cast<event*>(handle);
  if (named != nullptr && named->magic.load(std::memory_order_relaxed) == live_event) return named;
  misuse("unknown or destroyed event %p", static_cast<void*>(handle));
  return nullptr;
}

namespace {

cudaError_t make_event(cudaEvent_t* out, unsigned flags, device& on) {
  if (out == nullptr) return cudaErrorInvalidValue;
  auto* const made = new event(on, flags);
  on.home->keep(made);
  on.events.fetch_add(1, std::memory_order_relaxed);
  *out = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}

cudaError_t record(event& into, stream& on) {
  if (&into.dev != &on.dev) {
    misuse("an event of device %d recorded on a stream of device %d", into.dev.id, on.dev.id);
    return cudaErrorInvalidResourceHandle;
  }
  if (capture* const recording = on.recording.load(std::memory_order_relaxed)) {
    recording->note_event(on, into);
    return cudaSuccess;
  }
  order_with_legacy(on);
  into.captured_in.store(nullptr, std::memory_order_relaxed);
  into.last.store(on.mark_now(), std::memory_order_release);
  return cudaSuccess;
}

// The named event, unless it can only be asked about in its graph.
cudaError_t askable(cudaEvent_t handle, event*& named) {
  named = event_of(handle);
  if (named == nullptr) return cudaErrorInvalidResourceHandle;
  if (named->captured_in.load(std::memory_order_relaxed) != nullptr) return cudaErrorCapturedEvent;
  return cudaSuccess;
}

}  // namespace

cudaError_t state_of(cudaEvent_t handle) {
  event* named = nullptr;
  if (const cudaError_t status = askable(handle, named)) return status;
  mark* const recorded = named->last.load(std::memory_order_acquire);
  if (recorded == nullptr) return cudaSuccess;
  if (recorded->ready()) return recorded->wait();
  const cudaError_t sticky = named->dev.sticky_error();
  return sticky != cudaSuccess ? sticky : cudaErrorNotReady;
}

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return call_on_device<"cudaEventCreateWithFlags">(
      [&](device& current) { return make_event(out, flags, current); });
}

cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return call_on_device<"cudaEventCreate">([&](device& current) { return make_event(out, 0, current); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call<"cudaEventDestroy">([&]() -> cudaError_t {
    event* const named = event_of(handle);
    if (named == nullptr) return cudaErrorInvalidResourceHandle;
    named->magic.store(dead_handle, std::memory_order_relaxed);
    named->dev.events.fetch_sub(1, std::memory_order_relaxed);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  return call_on_stream<"cudaEventRecord">(stream_handle, [&](stream& on, device&) -> cudaError_t {
    event* const named = event_of(handle);
    return named == nullptr ? cudaErrorInvalidResourceHandle : record(*named, on);
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream_handle, unsigned) {
  return call_on_stream<"cudaEventRecordWithFlags">(stream_handle, [&](stream& on, device&) -> cudaError_t {
    event* const named = event_of(handle);
    return named == nullptr ? cudaErrorInvalidResourceHandle : record(*named, on);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call_on_device<"cudaEventQuery">([&](device&) { return state_of(handle); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call_on_device<"cudaEventSynchronize">([&](device&) -> cudaError_t {
    event* named = nullptr;
    if (const cudaError_t status = askable(handle, named)) return status;
    mark* const recorded = named->last.load(std::memory_order_acquire);
    if (recorded == nullptr) return cudaSuccess;
    const cudaError_t status = recorded->wait();
    trim_pools(named->dev);
    return status;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call_on_device<"cudaEventElapsedTime">([&](device&) -> cudaError_t {
    event* const first = event_of(start);
    event* const second = event_of(end);
    if (first == nullptr || second == nullptr) return cudaErrorInvalidResourceHandle;
    if (&first->dev != &second->dev || ((first->flags | second->flags) & cudaEventDisableTiming) != 0)
      return cudaErrorInvalidResourceHandle;
    const mark* const from = first->last.load(std::memory_order_acquire);
    const mark* const to = second->last.load(std::memory_order_acquire);
    if (from == nullptr || to == nullptr) return cudaErrorInvalidResourceHandle;
    if (!from->ready() || !to->ready()) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->at() - from->at()).count();
    return cudaSuccess;
  });
}
}
