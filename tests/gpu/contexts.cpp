// SPDX-License-Identifier: Apache-2.0
// Which calls make a context, and peers.
#include <cstring>
#include <thread>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

bool has_context() {
  static const auto state = entry<CUresult(CUdevice, unsigned*, int*)>("cuDevicePrimaryCtxGetState");
  unsigned flags = 0;
  int active = 0;
  if (state(0, &flags, &active) != CUDA_SUCCESS) say("cuDevicePrimaryCtxGetState fails");
  return active != 0;
}

void contexts_made() {
  int count = 0;
  must(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  say(std::string("after cudaGetDeviceCount there is ") + (has_context() ? "a context" : "none"));
  struct attempt {
    const char* name;
    std::function<cudaError_t()> call;
  };
  int number = 0, high = 0;
  char text_of[64] = "";
  void* memory = nullptr;
  cudaDeviceProp properties{};
  cudaMemPool_t pool = nullptr;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaPointerAttributes pointer{};
  cudaFuncAttributes function{};
  std::size_t bytes = 0, all_bytes = 0;
  cudaMemPoolProps pool_properties{};
  pool_properties.allocType = cudaMemAllocationTypePinned;
  pool_properties.location = {cudaMemLocationTypeDevice, 0};
  const attempt attempts[] = {
      {"GetDevice", [&] { return cudaGetDevice(&number); }},
      {"DeviceGetAttribute", [&] { return cudaDeviceGetAttribute(&number, cudaDevAttrHostNumaId, 0); }},
      {"GetDeviceProperties", [&] { return cudaGetDeviceProperties(&properties, 0); }},
      {"DeviceGetPCIBusId", [&] { return cudaDeviceGetPCIBusId(text_of, sizeof text_of, 0); }},
      {"DeviceCanAccessPeer", [&] { return cudaDeviceCanAccessPeer(&number, 0, 0); }},
      {"DeviceGetDefaultMemPool", [&] { return cudaDeviceGetDefaultMemPool(&pool, 0); }},
      {"MemPoolCreate", [&] { return cudaMemPoolCreate(&pool, &pool_properties); }},
      {"DeviceGetStreamPriorityRange", [&] { return cudaDeviceGetStreamPriorityRange(&number, &high); }},
      {"PointerGetAttributes", [&] { return cudaPointerGetAttributes(&pointer, &number); }},
      {"GetKernel", [&] { return cudaGetKernel(&kernel, empty_stub()); }},
      {"SetDeviceFlags", [&] { return cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync); }},
      {"GetLastError", [&] { return cudaGetLastError(); }},
      {"EventCreate", [&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }},
      {"StreamCreate", [&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }},
      {"FuncGetAttributes", [&] { return cudaFuncGetAttributes(&function, empty_stub()); }},
      {"MallocHost", [&] { return cudaMallocHost(&memory, 16); }},
      {"MemGetInfo", [&] { return cudaMemGetInfo(&bytes, &all_bytes); }},
      {"DeviceSynchronize", [&] { return cudaDeviceSynchronize(); }},
      {"Free(null)", [&] { return cudaFree(nullptr); }},
      {"Malloc", [&] { return cudaMalloc(&memory, 16); }},
      {"InitDevice", [&] { return cudaInitDevice(0, 0, 0); }},
      {"SetDevice", [&] { return cudaSetDevice(0); }},
  };
  outcomes all;
  for (const attempt& each : attempts) {
    cudaError_t status = cudaSuccess;
    // On a thread of its own: cudaSetDevice leaves its mark on the thread.
    std::thread([&] { status = each.call(); }).join();
    all.add(each.name, std::string(has_context() ? "makes one" : "makes none") +
                           (status == cudaSuccess ? "" : " and gives " + text(status)));
    if (has_context()) must(cudaDeviceReset(), "cudaDeviceReset");
    if (has_context()) {
      say(all.summary());
      say(std::string("cudaDeviceReset after ") + each.name +
          " left the context: the rest could not be asked");
      return;
    }
  }
  say(all.summary());
}

void first_context() {
  int count = 0;
  say("cudaGetDeviceCount, the first call, " + shown(time_of([&] { (void)cudaGetDeviceCount(&count); })));
  cudaDeviceProp properties{};
  say("cudaGetDeviceProperties " + shown(time_of([&] { (void)cudaGetDeviceProperties(&properties, 0); })));
  say("cudaInitDevice " + shown(time_of([&] { must(cudaInitDevice(0, 0, 0), "cudaInitDevice"); })));
  say("cudaSetDevice after it " + shown(time_of([&] { must(cudaSetDevice(0), "cudaSetDevice"); })));
  std::size_t free_bytes = 0, all_bytes = 0;
  must(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  say("the device then has " + std::to_string((all_bytes - free_bytes) >> 20) + " of " +
      std::to_string(all_bytes >> 20) + " MiB in use, by all programs");
}

void thread_without_context() {
  const cudaStream_t on = new_stream();
  const cudaEvent_t event = new_event();
  must(cudaEventRecord(event, on), "cudaEventRecord");
  const auto current = entry<CUresult(CUcontext*)>("cuCtxGetCurrent");
  std::thread([&] {
    CUcontext context = nullptr;
    int number = -1;
    outcomes all;
    const auto bound = [&] { return current(&context) == CUDA_SUCCESS && context != nullptr; };
    const auto see = [&](const char* name, cudaError_t status) {
      all.add(name, text(status) + (bound() ? " (bound)" : " (not bound)"));
    };
    say(std::string("a new thread has ") + (bound() ? "a context" : "none"));
    see("GetDevice", cudaGetDevice(&number));
    see("EventQuery", cudaEventQuery(event));
    see("StreamQuery", cudaStreamQuery(on));
    see("EventRecord", cudaEventRecord(event, on));
    see("StreamWaitEvent", cudaStreamWaitEvent(on, event, 0));
    see("launch", launch_empty(on));
    say(all.summary());
  }).join();
}

void peer_of_itself() {
  int can = -1;
  const auto asked = cudaDeviceCanAccessPeer(&can, 0, 0);
  say("cudaDeviceCanAccessPeer(0, 0) " + text(asked) + " says " + std::to_string(can));
  must(cudaSetDevice(0), "cudaSetDevice");
  say("cudaDeviceEnablePeerAccess(0) " + text(cudaDeviceEnablePeerAccess(0, 0)));
  say({"the last error is ", text(cudaGetLastError()), ", then ", text(cudaGetLastError())});
  say("cudaDeviceDisablePeerAccess(0) " + text(cudaDeviceDisablePeerAccess(0)));
  say("of a device that does not exist: " + text(cudaDeviceEnablePeerAccess(99, 0)));
}

void two_gpus() {
  int count = 0;
  must(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count < 2)
    return say("documented, not measured: needs two GPUs, and there is " + std::to_string(count));
  constexpr std::size_t size = 1 << 20;
  std::vector<char> sent(size, 7), received(size, 0);
  void *from = nullptr, *to = nullptr;
  must(cudaSetDevice(1), "cudaSetDevice");
  must(cudaMalloc(&to, size), "cudaMalloc");
  must(cudaSetDevice(0), "cudaSetDevice");
  must(cudaMalloc(&from, size), "cudaMalloc");
  must(cudaMemcpy(from, sent.data(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
  const cudaStream_t on = new_stream();
  const auto copy = [&] {
    must(cudaMemcpyPeerAsync(to, 1, from, 0, size, on), "cudaMemcpyPeerAsync");
    must(cudaStreamSynchronize(on), "cudaStreamSynchronize");
    must(cudaMemcpy(received.data(), to, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::memcmp(sent.data(), received.data(), size) == 0 ? "arrives" : "arrives WRONG";
  };
  say(std::string("without access it ") + copy());
  say("cudaDeviceEnablePeerAccess " + text(cudaDeviceEnablePeerAccess(1, 0)));
  say("a second time " + text(cudaDeviceEnablePeerAccess(1, 0)));
  (void)cudaGetLastError();
  say(std::string("with access it ") + copy());
}

}  // namespace

std::vector<question> context_questions() {
  return {
      {"contexts_made", "Which calls make a context", contexts_made},
      {"first_context", "What the first context costs", first_context},
      {"thread_without_context", "Calls of a thread that never chose a device", thread_without_context},
      {"peer_of_itself", "cudaDeviceEnablePeerAccess of a device for itself", peer_of_itself},
      {"two_gpus", "cudaMemcpyPeerAsync between two GPUs", two_gpus},
  };
}

}  // namespace heddle::facts
