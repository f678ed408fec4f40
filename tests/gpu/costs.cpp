// SPDX-License-Identifier: Apache-2.0
// What calls cost, and how soon the host learns that work is done.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

void latency() {
  const cudaStream_t on = new_stream();
  const cudaEvent_t fast = new_event();
  cudaEvent_t sleepy = nullptr;
  must(cudaEventCreateWithFlags(&sleepy, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreate");
  constexpr int count = 1000;
  say("an empty kernel, from its launch to: an event polled " + spread(count, [&] {
        return time_of([&] {
          (void)launch_empty(on);
          (void)cudaEventRecord(fast, on);
          while (cudaEventQuery(fast) == cudaErrorNotReady) {
          }
        });
      }));
  say("a host function that sets a flag " + spread(count, [&] {
        static std::atomic<bool> done{false};
        done = false;
        const auto took = time_of([&] {
          (void)launch_empty(on);
          (void)cudaLaunchHostFunc(
              on, [](void*) { done.store(true, std::memory_order_release); }, nullptr);
          while (!done.load(std::memory_order_acquire)) {
          }
        });
        (void)cudaStreamSynchronize(on);
        return took;
      }));
  say("cudaStreamSynchronize " + spread(count, [&] {
        return time_of([&] {
          (void)launch_empty(on);
          (void)cudaStreamSynchronize(on);
        });
      }));
  say("a blocking event's cudaEventSynchronize " + spread(count, [&] {
        return time_of([&] {
          (void)launch_empty(on);
          (void)cudaEventRecord(sleepy, on);
          (void)cudaEventSynchronize(sleepy);
        });
      }));
}

/// Nanoseconds of one call, from batches with an idle device before each.
std::string each_call(const std::function<void()>& call) {
  constexpr int batch = 100;
  return spread(200, [&] {
    const auto all = time_of([&] {
      for (int k = 0; k < batch; ++k) call();
    });
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return all / batch;
  });
}

void launches() {
  const cudaStream_t on = new_stream();
  cudaKernel_t kernel = nullptr;
  must(cudaGetKernel(&kernel, empty_stub()), "cudaGetKernel");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = on;
  void* none[1] = {nullptr};
  say("<<<>>> " + each_call([&] { launch_empty_by_syntax(on); }));
  say("cudaLaunchKernelExC with a cudaKernel_t " +
      each_call([&] { (void)cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), none); }));
  say("cudaLaunchKernelExC with the stub " +
      each_call([&] { (void)cudaLaunchKernelExC(&config, empty_stub(), none); }));
}

void small_calls() {
  const cudaStream_t on = new_stream(), other = new_stream(), busy = new_stream();
  const cudaEvent_t event = new_event(), pending = new_event();
  say("cudaSetDevice(0) " + each_call([] { (void)cudaSetDevice(0); }));
  say("cudaEventRecord " + each_call([&] { (void)cudaEventRecord(event, on); }));
  say("cudaEventQuery, done " + each_call([&] { (void)cudaEventQuery(event); }));
  say("cudaStreamWaitEvent " + each_call([&] { (void)cudaStreamWaitEvent(other, event, 0); }));
  say("cudaStreamQuery, idle " + each_call([&] { (void)cudaStreamQuery(on); }));
  say("cudaLaunchHostFunc " + each_call([&] {
        (void)cudaLaunchHostFunc(
            on, [](void*) {}, nullptr);
      }));
  must(launch_spin(300, nullptr, busy), "launch");
  must(cudaEventRecord(pending, busy), "cudaEventRecord");
  say("cudaEventQuery, not ready " + spread(200, [&] {
        return time_of([&] {
                 for (int k = 0; k < 100; ++k) (void)cudaEventQuery(pending);
               }) /
               100;
      }));
  say(std::string("it was ") + (cudaEventQuery(pending) == cudaErrorNotReady ? "" : "NOT ") +
      "pending to the end");
  (void)cudaGetLastError();
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

std::string first_and_second(const void* stub, cudaStream_t on) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = on;
  float* nothing = nullptr;
  void* arguments[] = {&nothing};
  cudaError_t first = cudaSuccess, second = cudaSuccess;
  const auto cold = time_of([&] { first = cudaLaunchKernelExC(&config, stub, arguments); });
  const auto warm = time_of([&] { second = cudaLaunchKernelExC(&config, stub, arguments); });
  must(first, "the first launch");
  must(second, "the second launch");
  return shown(cold) + ", its second " + shown(warm);
}

void loading() {
  must(cudaSetDevice(0), "cudaSetDevice");
  const auto mode_of = try_entry<CUresult(CUmoduleLoadingMode*)>("cuModuleGetLoadingMode");
  CUmoduleLoadingMode mode{};
  if (mode_of != nullptr && mode_of(&mode) == CUDA_SUCCESS)
    say(mode == CU_MODULE_LAZY_LOADING ? "loading is lazy" : "loading is eager");
  const cudaStream_t busy = new_stream(), other = new_stream();
  must(launch_spin(1, nullptr, busy), "launch");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  say("first launch " + first_and_second(fresh_stub(0), other));
  cudaFuncAttributes attributes{};
  const auto asked = time_of([&] { (void)cudaFuncGetAttributes(&attributes, fresh_stub(1)); });
  say("cudaFuncGetAttributes of the next kernel " + shown(asked) + ", its first launch " +
      first_and_second(fresh_stub(1), other));
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  // A kernel that waits for the host, which does not get there while it loads another kernel.
  int* stop = nullptr;
  must(cudaHostAlloc(reinterpret_cast<void**>(&stop), sizeof *stop, cudaHostAllocMapped), "cudaHostAlloc");
  const auto while_busy = [&](const char* what, const std::function<void()>& call) {
    *static_cast<volatile int*>(stop) = 0;
    must(launch_spin(1000, stop, busy), "launch");
    const auto took = time_of(call);
    const bool still = cudaStreamQuery(busy) == cudaErrorNotReady;
    (void)cudaGetLastError();
    *static_cast<volatile int*>(stop) = 1;
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    say(std::string("while another stream is busy, ") + what + " takes " + shown(took) +
        (still ? " and does not wait for it" : " and WAITS FOR IT"));
  };
  std::string launched;
  while_busy("the first launch of a kernel", [&] { launched = first_and_second(fresh_stub(2), other); });
  while_busy("cudaFuncGetAttributes of a kernel",
             [&] { (void)cudaFuncGetAttributes(&attributes, fresh_stub(3)); });
}

void eager_loading() {
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // before the first call of CUDA in this process
  loading();
}

}  // namespace

std::vector<question> cost_questions() {
  return {
      {"latency", "Polling an event against cudaLaunchHostFunc", latency},
      {"launches", "What a launch costs the host", launches},
      {"small_calls", "What small calls cost the host", small_calls},
      {"lazy_loading", "The first launch of a kernel", loading},
      {"eager_loading", "The first launch of a kernel, with CUDA_MODULE_LOADING=EAGER", eager_loading},
  };
}

}  // namespace heddle::facts
