// SPDX-License-Identifier: Apache-2.0
// Last error, host functions and captures.
#include <atomic>
#include <string>
#include <thread>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

void not_ready() {
  const cudaStream_t busy = new_stream();
  const cudaEvent_t behind = new_event();
  const auto query = entry<CUresult(CUevent)>("cuEventQuery");
  must(launch_empty(busy), "launch");
  must(cudaStreamSynchronize(busy), "cudaStreamSynchronize");
  must(launch_spin(500, nullptr, busy), "launch");
  must(cudaEventRecord(behind, busy), "cudaEventRecord");
  say({"cudaEventQuery ", text(cudaEventQuery(behind)), " and leaves ", text(cudaGetLastError())});
  say({"cudaStreamQuery ", text(cudaStreamQuery(busy)), " and leaves ", text(cudaGetLastError())});
  say({"cuEventQuery ", text(query(behind)), " and leaves ", text(cudaGetLastError())});
  (void)cudaFree(reinterpret_cast<void*>(std::uintptr_t{16}));
  const auto there = cudaPeekAtLastError();
  (void)cudaEventQuery(behind);
  say("an error that is there already, " + text(there) + ", is afterwards " + text(cudaPeekAtLastError()));
  (void)cudaGetLastError();
  must(cudaStreamSynchronize(busy), "cudaStreamSynchronize");
}

void calls_in_host_function() {
  static outcomes inside;
  static std::atomic<bool> done{false};
  static cudaEvent_t event = new_event();
  const cudaStream_t on = new_stream();
  must(cudaLaunchHostFunc(
           on,
           [](void*) {
             int number = 0;
             void* memory = nullptr;
             inside.add("GetDevice", cudaGetDevice(&number));
             inside.add("GetDeviceCount", cudaGetDeviceCount(&number));
             inside.add("GetLastError", cudaGetLastError());
             inside.add("EventQuery", cudaEventQuery(event));
             inside.add("MallocHost", cudaMallocHost(&memory, 16));
             inside.add("Malloc", cudaMalloc(&memory, 16));
             done = true;
           },
           nullptr),
       "cudaLaunchHostFunc");
  const auto begin = std::chrono::steady_clock::now();
  while (!done && std::chrono::steady_clock::now() - begin < std::chrono::seconds(5))
    std::this_thread::yield();
  say(done ? inside.summary() : "one of the calls did not return in 5 s");
}

const char* name_of(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal        ? "global"
         : mode == cudaStreamCaptureModeThreadLocal ? "thread-local"
                                                    : "relaxed";
}

/// Each call while a stream captures, alone in its capture: its code, and "breaks" where the capture is lost.
std::string calls_while(cudaStreamCaptureMode mode, bool of_another_thread) {
  const cudaStream_t capturing = new_stream(), other = new_stream();
  const cudaEvent_t event = new_event();
  must(cudaEventRecord(event, other), "cudaEventRecord");
  must(cudaStreamSynchronize(other), "cudaStreamSynchronize");
  struct attempt {
    const char* name;
    std::function<cudaError_t()> call;
  };
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t made = nullptr;
  const attempt attempts[] = {
      {"Malloc", [&] { return cudaMalloc(&memory, 16); }},
      {"MallocHost", [&] { return cudaMallocHost(&memory, 16); }},
      {"MallocAsync(other)", [&] { return cudaMallocAsync(&memory, 16, other); }},
      {"StreamCreate", [&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }},
      {"EventCreate", [&] { return cudaEventCreateWithFlags(&made, cudaEventDisableTiming); }},
      {"EventQuery(other)", [&] { return cudaEventQuery(event); }},
      {"StreamQuery(other)", [&] { return cudaStreamQuery(other); }},
      {"StreamSynchronize(other)", [&] { return cudaStreamSynchronize(other); }},
      {"StreamQuery(capturing)", [&] { return cudaStreamQuery(capturing); }},
      {"launch(other)", [&] { return launch_empty(other); }},
      {"launch(legacy)", [&] { return launch_empty(nullptr); }},
      {"DeviceSynchronize", [&] { return cudaDeviceSynchronize(); }},
  };
  outcomes all;
  for (const attempt& each : attempts) {
    must(cudaStreamBeginCapture(capturing, mode), "cudaStreamBeginCapture");
    must(launch_empty(capturing), "launch");
    cudaError_t status = cudaSuccess;
    if (of_another_thread) {
      std::thread([&] { status = each.call(); }).join();
    } else {
      status = each.call();
    }
    cudaGraph_t graph = nullptr;
    const cudaError_t end = cudaStreamEndCapture(capturing, &graph);
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    all.add(each.name,
            text(status) + (end == cudaSuccess ? "" : " and the capture breaks with " + text(end)));
  }
  return all.summary();
}

void captures(cudaStreamCaptureMode mode) {
  say(std::string("mode ") + name_of(mode) + ", same thread: " + calls_while(mode, false));
  say("ANOTHER THREAD: " + calls_while(mode, true));
}

}  // namespace

std::vector<question> stream_questions() {
  return {
      {"not_ready", "Does not-ready land in the last-error slot; does cuEventQuery leave it alone",
       not_ready},
      {"calls_in_host_function", "Calls inside a host function", calls_in_host_function},
      {"capture_global", "Calls during a capture, global mode",
       [] { captures(cudaStreamCaptureModeGlobal); }},
      {"capture_thread", "Calls during a capture, thread-local mode",
       [] { captures(cudaStreamCaptureModeThreadLocal); }},
      {"capture_relaxed", "Calls during a capture, relaxed mode",
       [] { captures(cudaStreamCaptureModeRelaxed); }},
  };
}

}  // namespace heddle::facts
