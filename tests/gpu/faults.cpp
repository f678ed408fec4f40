// SPDX-License-Identifier: Apache-2.0
// What is left of a device after a kernel that faulted.
#include <atomic>
#include <thread>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

/// Polls as heddle does; the first answer that is not "not ready".
cudaError_t poll(cudaEvent_t event) {
  cudaError_t status = cudaErrorNotReady;
  while (status == cudaErrorNotReady) {
    status = cudaEventQuery(event);
    std::this_thread::yield();
  }
  return status;
}

/// The fault happens 50 ms from now, so that work can be put behind it.
void launch_late_fault(fault which, cudaStream_t on) {
  cudaFuncAttributes attributes{};
  must(cudaFuncGetAttributes(&attributes, fault_stub(which)),
       "cudaFuncGetAttributes");  // else the launch may wait
  must(launch_spin(1, nullptr, on), "launch");
  must(cudaStreamSynchronize(on), "cudaStreamSynchronize");
  must(launch_spin(50, nullptr, on), "launch");
  must(launch_fault(which, on), "launch");
}

void after_fault(fault which) {
  const cudaStream_t faulty = new_stream(), other = new_stream(), third = new_stream();
  const cudaEvent_t before = new_event(), behind = new_event(), fresh = new_event();
  void *device = nullptr, *pooled = nullptr, *pinned = nullptr;
  must(cudaMalloc(&device, 1024), "cudaMalloc");
  must(cudaMallocAsync(&pooled, 1024, other), "cudaMallocAsync");
  must(cudaMallocHost(&pinned, 1024), "cudaMallocHost");
  must(cudaEventRecord(before, other), "cudaEventRecord");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  launch_late_fault(which, faulty);
  must(cudaEventRecord(behind, faulty), "cudaEventRecord");
  must(cudaStreamWaitEvent(other, behind, 0), "cudaStreamWaitEvent");
  say("the event behind it, polled, gives " + text(poll(behind)));
  say("the last error is then " + text(cudaPeekAtLastError()));
  (void)cudaGetLastError();
  say("read again " + text(cudaGetLastError()));

  outcomes after;
  int number = 0;
  std::size_t free_bytes = 0, all_bytes = 0;
  cudaPointerAttributes pointer{};
  void* more = nullptr;
  after.add("EventQuery(recorded before)", cudaEventQuery(before));
  after.add("EventQuery(behind)", cudaEventQuery(behind));
  after.add("EventQuery(never recorded)", cudaEventQuery(fresh));
  after.add("EventRecord", cudaEventRecord(fresh, third));
  after.add("EventSynchronize", cudaEventSynchronize(behind));
  after.add("StreamQuery(faulty)", cudaStreamQuery(faulty));
  after.add("StreamQuery(idle)", cudaStreamQuery(third));
  after.add("StreamSynchronize(idle)", cudaStreamSynchronize(third));
  after.add("StreamWaitEvent", cudaStreamWaitEvent(third, before, 0));
  after.add("launch", launch_empty(third));
  after.add("MemsetAsync", cudaMemsetAsync(device, 0, 16, third));
  after.add("MemcpyAsync", cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, third));
  after.add("Malloc", cudaMalloc(&more, 16));
  after.add("MallocAsync", cudaMallocAsync(&more, 16, third));
  after.add("MallocHost", cudaMallocHost(&more, 16));
  after.add("FreeAsync", cudaFreeAsync(pooled, other));
  after.add("MemGetInfo", cudaMemGetInfo(&free_bytes, &all_bytes));
  after.add("PointerGetAttributes", cudaPointerGetAttributes(&pointer, device));
  after.add("GetDeviceCount", cudaGetDeviceCount(&number));
  after.add("GetDevice", cudaGetDevice(&number));
  after.add("SetDevice", cudaSetDevice(0));
  after.add("DeviceGetAttribute", cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, 0));
  after.add("DeviceSynchronize", cudaDeviceSynchronize());
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  after.add("EventCreate", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  after.add("StreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  after.add("EventDestroy(before)", cudaEventDestroy(before));
  after.add("EventDestroy(behind)", cudaEventDestroy(behind));
  after.add("StreamDestroy(idle)", cudaStreamDestroy(third));
  after.add("StreamDestroy(faulty)", cudaStreamDestroy(faulty));
  after.add("Free", cudaFree(device));
  after.add("FreeHost", cudaFreeHost(pinned));
  say("afterwards, " + after.summary());
}

void after_reset() {
  const cudaStream_t faulty = new_stream();
  must(launch_fault(fault::address, faulty), "launch");
  say("cudaStreamSynchronize " + text(cudaStreamSynchronize(faulty)));
  say("cudaDeviceReset " + text(cudaDeviceReset()));
  void* memory = nullptr;
  say("then cudaMalloc " + text(cudaMalloc(&memory, 16)));
  say({"launch ", text(launch_empty(nullptr)), ", cudaDeviceSynchronize ", text(cudaDeviceSynchronize())});
}

void functions_after_fault() {
  static std::atomic<int> called{0}, called_back{0};
  static std::atomic<int> told{-1};
  const cudaStream_t faulty = new_stream();
  launch_late_fault(fault::address, faulty);
  const cudaError_t host = cudaLaunchHostFunc(
      faulty, [](void*) { ++called; }, nullptr);
  const cudaError_t callback = cudaStreamAddCallback(
      faulty,
      [](cudaStream_t, cudaError_t status, void*) {
        told = static_cast<int>(status);
        ++called_back;
      },
      nullptr, 0);
  say("cudaLaunchHostFunc " + text(host) + ", cudaStreamAddCallback " + text(callback));
  say("cudaStreamSynchronize " + text(cudaStreamSynchronize(faulty)));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // nothing tells that a call never comes
  say("300 ms later the host function was called " + std::to_string(called.load()) + " times, the callback " +
      std::to_string(called_back.load()) + " times with " + std::to_string(told.load()));
}

void bad_launches() {
  const cudaStream_t on = new_stream();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(2048);
  config.stream = on;
  say("a block of 2048 threads: " + text(cudaLaunchKernelExC(&config, empty_stub(), nullptr)));
  say("the last error is " + text(cudaPeekAtLastError()));
  say({"cudaGetLastError ", text(cudaGetLastError()), ", again ", text(cudaGetLastError())});
  config.gridDim = dim3(0);
  config.blockDim = dim3(1);
  say("an empty grid: " + text(cudaLaunchKernelExC(&config, empty_stub(), nullptr)));
  (void)cudaGetLastError();
  void* huge = nullptr;
  say("cudaMalloc of 2^60 bytes: " + text(cudaMalloc(&huge, std::size_t{1} << 60)));
  (void)cudaGetLastError();
  say({"a good launch afterwards: ", text(launch_empty(on)), ", ", text(cudaStreamSynchronize(on))});
}

}  // namespace

std::vector<question> fault_questions() {
  return {
      {"illegal_address", "After a kernel wrote to an illegal address", [] { after_fault(fault::address); }},
      {"misaligned", "After a kernel wrote to a misaligned address", [] { after_fault(fault::misaligned); }},
      {"trap", "After a kernel trapped", [] { after_fault(fault::trap); }},
      {"reset", "Does cudaDeviceReset heal a faulted device", after_reset},
      {"functions_after_fault", "Are host functions and callbacks called after a fault",
       functions_after_fault},
      {"bad_launches", "Errors that do not stick", bad_launches},
  };
}

}  // namespace heddle::facts
