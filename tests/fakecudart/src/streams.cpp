// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "entry.hpp"
#include "event.hpp"
#include "pool.hpp"

namespace fake {

namespace {

constexpr int lowest_priority = 0;
constexpr int highest_priority = -5;

cudaError_t make_stream(cudaStream_t* out, unsigned flags, int priority, device& on) {
  if (out == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
  if (capture_forbids("stream creation")) return cudaErrorStreamCaptureUnsupported;
  auto* const made = new stream(on, flags, std::clamp(priority, highest_priority, lowest_priority),
                                on.home->next_id.fetch_add(1, std::memory_order_relaxed));
  on.home->keep(made);
  const std::lock_guard lock(on.mutex);
  on.streams.insert(made);
  *out = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}

// Host functions must not call the runtime: enter() sees by the flag that they do.
template <class F>
void run_callback(device& on, F body) {
  std::unique_lock lock(on.callback_mutex, std::defer_lock);
  if (on.home->harsh.load(std::memory_order_relaxed)) lock.lock();
  self().in_callback = true;
  body();
  self().in_callback = false;
}

bool is_named(cudaStream_t handle) {
  return handle != nullptr && handle != cudaStreamLegacy && handle != cudaStreamPerThread;
}

// Asking about a stream that records breaks the recording.
bool breaks_capture(stream& asked) {
  capture* const recording = asked.recording.load(std::memory_order_relaxed);
  if (recording == nullptr) return false;
  recording->broken.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return call_on_device<"cudaStreamCreate">([&](device& current) { return make_stream(out, 0, 0, current); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return call_on_device<"cudaStreamCreateWithFlags">(
      [&](device& current) { return make_stream(out, flags, 0, current); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return call_on_device<"cudaStreamCreateWithPriority">(
      [&](device& current) { return make_stream(out, flags, priority, current); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call_on_device<"cudaStreamDestroy">([&](device& current) -> cudaError_t {
    if (!is_named(handle)) return cudaErrorInvalidResourceHandle;
    stream* const named = stream_of(handle, current);
    if (named == nullptr) return cudaErrorInvalidResourceHandle;
    named->magic.store(dead_handle, std::memory_order_relaxed);
    mark* const end = named->idle() ? nullptr : named->mark_now();
    {
      const std::lock_guard lock(named->dev.mutex);
      named->dev.streams.erase(named);
      if (end != nullptr) named->dev.draining.push_back(end);
    }
    named->stop();  // queued work still runs
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call_on_stream<"cudaStreamSynchronize">(handle, [](stream& on, device&) -> cudaError_t {
    if (breaks_capture(on)) return cudaErrorStreamCaptureUnsupported;
    const cudaError_t status = on.idle() ? on.dev.sticky_error() : on.mark_now()->wait();
    trim_pools(on.dev);
    return status;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call_on_stream<"cudaStreamQuery">(handle, [](stream& on, device&) -> cudaError_t {
    if (breaks_capture(on)) return cudaErrorStreamCaptureUnsupported;
    return on.idle() ? on.dev.sticky_error() : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call_on_stream<"cudaStreamGetPriority">(handle, [&](stream& on, device&) {
    *priority = on.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return call_on_stream<"cudaStreamGetFlags">(handle, [&](stream& on, device&) {
    *flags = on.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return call_on_stream<"cudaStreamGetId">(handle, [&](stream& on, device&) {
    *id = on.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* ordinal) {
  return call_on_stream<"cudaStreamGetDevice">(handle, [&](stream& on, device&) {
    *ordinal = on.dev.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  return call_on_stream<"cudaStreamWaitEvent">(handle, [&](stream& on, device&) -> cudaError_t {
    event* const named = event_of(event_handle);
    if (named == nullptr) return cudaErrorInvalidResourceHandle;
    capture* const recording = on.recording.load(std::memory_order_relaxed);
    if (capture* const from = named->captured_in.load(std::memory_order_relaxed)) {
      if (recording != nullptr && recording != from) return cudaErrorStreamCaptureMerge;
      from->wait_event(on, *named);
      return cudaSuccess;
    }
    if (recording != nullptr) {
      recording->broken.store(true, std::memory_order_relaxed);
      return cudaErrorStreamCaptureIsolation;
    }
    mark* const recorded = named->last.load(std::memory_order_acquire);
    // Even if it is done: seen from the host that is luck, and the stream has to be ordered behind it.
    if (recorded != nullptr) enqueue(on, op_kind::marker, [recorded] { recorded->wait(); });
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call_on_stream<"cudaLaunchHostFunc">(handle, [&](stream& on, device&) -> cudaError_t {
    if (function == nullptr) return cudaErrorInvalidValue;
    // Work: not called once the device failed.
    enqueue(on, op_kind::work,
            [function, data, by = &on.dev] { run_callback(*by, [&] { function(data); }); });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void* data, unsigned) {
  return call_on_stream<"cudaStreamAddCallback">(handle, [&](stream& on, device&) -> cudaError_t {
    if (function == nullptr) return cudaErrorInvalidValue;
    if (breaks_capture(on)) return cudaErrorStreamCaptureUnsupported;
    // A marker: called with the device's error.
    enqueue(on, op_kind::marker, [function, data, handle, by = &on.dev] {
      run_callback(*by, [&] { function(handle, by->sticky_error(), data); });
    });
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call_on_device<"cudaDeviceSynchronize">([](device& current) -> cudaError_t {
    if (capture_forbids("cudaDeviceSynchronize")) return cudaErrorStreamCaptureUnsupported;
    const cudaError_t status = current.wait_idle();
    trim_pools(current);
    return status;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return call_on_device<"cudaDeviceGetStreamPriorityRange">([&](device&) {
    if (lowest != nullptr) *lowest = lowest_priority;
    if (highest != nullptr) *highest = highest_priority;
    return cudaSuccess;
  });
}
}
