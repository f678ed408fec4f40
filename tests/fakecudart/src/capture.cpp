// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "entry.hpp"
#include "event.hpp"

namespace fake {

void capture::record(stream& on, op what) {
  body->ops.push_back(std::move(what));
  if (&on == &origin) return;
  branch& side = branches_[&on];
  ++side.recorded;
  side.joined = false;
}

void capture::note_event(stream& on, event& into) {
  into.captured_on = &on;
  into.captured_at = &on == &origin ? 0 : branches_[&on].recorded;
  into.captured_in.store(this, std::memory_order_relaxed);
}

void capture::wait_event(stream& on, const event& from) {
  if (on.recording.load(std::memory_order_relaxed) == nullptr) {
    branches_[&on] = {};
    on.recording.store(this, std::memory_order_relaxed);
  }
  const auto side = branches_.find(from.captured_on);
  if (side != branches_.end() && &on != from.captured_on && side->second.recorded == from.captured_at)
    side->second.joined = true;
}

bool capture::all_joined() const {
  return std::all_of(branches_.begin(), branches_.end(), [](const auto& side) { return side.second.joined; });
}

bool capture_forbids(const char* api) {
  const thread_state& thread = self();
  machine& here = the_machine();
  if (thread.capture_mode == cudaStreamCaptureModeRelaxed) return false;
  const bool by_others = thread.capture_mode == cudaStreamCaptureModeGlobal &&
                         here.global_captures.load(std::memory_order_relaxed) > 0;
  if (thread.own_captures == 0 && !by_others) return false;
  misuse("%s while a stream capture is under way", api);
  const std::lock_guard lock(here.mutex);
  for (capture* const each : here.captures) {
    const bool own = each->owner == std::this_thread::get_id() && each->mode != cudaStreamCaptureModeRelaxed;
    if (own || (by_others && each->mode == cudaStreamCaptureModeGlobal))
      each->broken.store(true, std::memory_order_relaxed);
  }
  return true;
}

namespace {

cudaError_t begin_capture(stream& on, cudaStreamCaptureMode mode) {
  if (on.recording.load(std::memory_order_relaxed) != nullptr) return cudaErrorIllegalState;
  if (&on == on.dev.legacy) return cudaErrorStreamCaptureUnsupported;
  machine& here = *on.dev.home;
  auto* const made = new capture(on, mode, here.next_id.fetch_add(1, std::memory_order_relaxed));
  here.keep(made);  // events recorded into it may be asked about later
  if (mode != cudaStreamCaptureModeRelaxed) ++self().own_captures;
  if (mode == cudaStreamCaptureModeGlobal) here.global_captures.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(here.mutex);
  here.captures.push_back(made);
  on.recording.store(made, std::memory_order_relaxed);
  return cudaSuccess;
}

void leave_capture(machine& here, capture& ended) {
  for (auto& each : here.devices) {
    const std::lock_guard lock(each->mutex);
    for (const auto* set : {&each->streams, &each->implicit_streams})
      for (stream* const one : *set)
        if (one->recording.load(std::memory_order_relaxed) == &ended)
          one->recording.store(nullptr, std::memory_order_relaxed);
  }
}

cudaError_t end_capture(stream& on, cudaGraph_t* out) {
  *out = nullptr;
  capture* const ended = on.recording.load(std::memory_order_relaxed);
  if (ended == nullptr) return cudaErrorIllegalState;
  if (&ended->origin != &on) return cudaErrorStreamCaptureUnmatched;
  const bool relaxed = ended->mode == cudaStreamCaptureModeRelaxed;
  if (!relaxed && ended->owner != std::this_thread::get_id()) return cudaErrorStreamCaptureWrongThread;
  machine& here = *on.dev.home;
  leave_capture(here, *ended);
  if (!relaxed) --self().own_captures;
  if (ended->mode == cudaStreamCaptureModeGlobal)
    here.global_captures.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(here.mutex);
  here.captures.erase(std::find(here.captures.begin(), here.captures.end(), ended));
  if (ended->broken.load(std::memory_order_relaxed)) return cudaErrorStreamCaptureInvalidated;
  if (!ended->all_joined()) return cudaErrorStreamCaptureUnjoined;
  auto* const made = new graph{std::move(ended->body), on.dev.id};
  here.graphs.insert(made);
  *out = reinterpret_cast<cudaGraph_t>(made);
  return cudaSuccess;
}

cudaStreamCaptureStatus status_of(const stream& on) {
  const capture* const recording = on.recording.load(std::memory_order_relaxed);
  if (recording == nullptr) return cudaStreamCaptureStatusNone;
  return recording->broken.load(std::memory_order_relaxed) ? cudaStreamCaptureStatusInvalidated
                                                           : cudaStreamCaptureStatusActive;
}

// Under machine::mutex. What still runs keeps its operations until the next reset.
template <class Set, class Handle>
cudaError_t destroy(machine& here, Set& all, Handle* which) {
  const auto found = all.find(which);
  if (found == all.end()) {
    misuse("unknown or destroyed graph %p", static_cast<void*>(which));
    return cudaErrorInvalidValue;
  }
  here.retired.push_back(which->body);
  all.erase(found);
  delete which;
  return cudaSuccess;
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call_on_stream<"cudaStreamBeginCapture">(
      handle, [&](stream& on, device&) { return begin_capture(on, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* out) {
  return call_on_stream<"cudaStreamEndCapture">(handle,
                                                [&](stream& on, device&) { return end_capture(on, out); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call_on_stream<"cudaStreamIsCapturing">(handle, [&](stream& on, device&) {
    *status = status_of(on);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return call_on_stream<"cudaStreamGetCaptureInfo">(handle, [&](stream& on, device&) {
    *status = status_of(on);
    const capture* const recording = on.recording.load(std::memory_order_relaxed);
    if (id != nullptr) *id = recording == nullptr ? 0 : recording->id;
    if (graph_out != nullptr) *graph_out = nullptr;
    if (dependencies != nullptr) *dependencies = nullptr;
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call<"cudaThreadExchangeStreamCaptureMode">([&] {
    std::swap(self().capture_mode, *mode);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long) {
  return call<"cudaGraphInstantiate">([&]() -> cudaError_t {
    auto* const named = reinterpret_cast<graph*>(handle);
    machine& here = the_machine();
    const std::lock_guard lock(here.mutex);
    if (here.graphs.count(named) == 0) return cudaErrorInvalidValue;
    auto* const made = new graph_exec{named->body, named->device};
    here.execs.insert(made);
    *out = reinterpret_cast<cudaGraphExec_t>(made);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call_on_stream<"cudaGraphLaunch">(stream_handle, [&](stream& on, device&) -> cudaError_t {
    auto* const named = reinterpret_cast<graph_exec*>(handle);
    graph_body* body = nullptr;
    {
      const std::lock_guard lock(on.dev.home->mutex);
      if (on.dev.home->execs.count(named) == 0) return cudaErrorInvalidValue;
      body = named->body.get();
    }
    for (op& each : body->ops) enqueue(on, each.kind, [again = &each] { again->run(); });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return call<"cudaGraphDestroy">([&] {
    machine& here = the_machine();
    const std::lock_guard lock(here.mutex);
    return destroy(here, here.graphs, reinterpret_cast<graph*>(handle));
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return call<"cudaGraphExecDestroy">([&] {
    machine& here = the_machine();
    const std::lock_guard lock(here.mutex);
    return destroy(here, here.execs, reinterpret_cast<graph_exec*>(handle));
  });
}
}
