// SPDX-License-Identifier: Apache-2.0
// Two streams that hand a buffer on, with the bug that the command line names. Only a sanitizer sees these.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "hostcuda.hpp"

namespace {

constexpr unsigned count = 1000;

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorName(status));
  std::_Exit(2);
}

__global__ void assign(int* to, int value) { to[blockIdx.x] = value; }
__global__ void increase(int* at) { at[blockIdx.x] += 1; }

void launch_assign(cudaStream_t stream, int* to, int value, unsigned blocks) {
  void* arguments[] = {&to, &value};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(assign), dim3(blocks), dim3(1), arguments, 0, stream),
        "assign");
}
void launch_increase(cudaStream_t stream, int* at) {
  void* arguments[] = {&at};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(increase), dim3(count), dim3(1), arguments, 0, stream),
        "increase");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string bug = argc > 1 ? argv[1] : "correct";
  if (fakecuda_is_fake() != 1) return 3;
  hostcuda::adopt<assign>(assign);
  hostcuda::adopt<increase>(increase);
  check(cudaSetDevice(0), "cudaSetDevice");
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const auto hand_over = [&](cudaStream_t from, cudaStream_t to) {
    check(cudaEventRecord(event, from), "cudaEventRecord");
    check(cudaStreamWaitEvent(to, event, 0), "cudaStreamWaitEvent");
  };

  // What was freed stays mapped: the bug is to be a race, not a fault.
  cudaMemPool_t pool = nullptr;
  unsigned long long threshold = ~0ULL;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
        "cudaMemPoolSetAttribute");

  void* memory = nullptr;
  void* pinned = nullptr;
  check(cudaMallocAsync(&memory, count * sizeof(int), first), "cudaMallocAsync");
  check(cudaMallocHost(&pinned, count * sizeof(int)), "cudaMallocHost");
  int* const device = static_cast<int*>(memory);
  int* const host = static_cast<int*>(pinned);

  for (unsigned index = 0; index < count; ++index) host[index] = 1;
  if (bug == "use_before_alloc")
    launch_assign(second, device, 5, count);
  else
    check(cudaMemcpyAsync(device, host, count * sizeof(int), cudaMemcpyHostToDevice, first),
          "cudaMemcpyAsync");
  if (bug == "late_host_write") host[count - 1] = 2;
  launch_assign(first, device, 6, bug == "past_the_end" ? count + 1 : count);
  if (bug != "no_wait_event") hand_over(first, second);
  launch_increase(second, device);
  check(cudaMemcpyAsync(host, device, count * sizeof(int), cudaMemcpyDeviceToHost, second),
        "cudaMemcpyAsync");
  if (bug != "no_sync" && bug != "free_without_wait")
    check(cudaStreamSynchronize(second), "cudaStreamSynchronize");
  if (bug != "free_without_wait") std::printf("%d\n", host[count - 1]);
  if (bug != "free_without_wait") hand_over(second, first);
  check(cudaFreeAsync(device, first), "cudaFreeAsync");
  if (bug == "kernel_after_free") launch_increase(first, device);
  check(cudaStreamSynchronize(first), "cudaStreamSynchronize");
  check(cudaStreamSynchronize(second), "cudaStreamSynchronize");

  check(cudaFreeHost(host), "cudaFreeHost");
  check(cudaEventDestroy(event), "cudaEventDestroy");
  check(cudaStreamDestroy(first), "cudaStreamDestroy");
  check(cudaStreamDestroy(second), "cudaStreamDestroy");
  return 0;
}
