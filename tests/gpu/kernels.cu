// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

namespace heddle::facts {

namespace {

__global__ void empty() {}

__global__ void write_to(int* where) { *where = 1; }

__global__ void trap() { asm("trap;"); }

__global__ void spin(long long nanoseconds, const volatile int* stop) {
  long long begin = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  for (long long now = begin; now - begin < nanoseconds;) {
    if (stop != nullptr && *stop != 0) return;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
}

__global__ void store(int* where, int value) { *where = value; }

// Some code, so that there is something to load.
template <int Which>
__global__ void fresh(float* out) {
  float sum = Which;
  for (int k = 0; k < 64; ++k) sum = sum * 1.5F + sinf(sum + static_cast<float>(k));
  if (out != nullptr) *out = sum;
}

__global__ void past_the_end(int* numbers, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i <= count) numbers[i] = i;
}

__global__ void race(int* sum) {
  __shared__ int numbers[64];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  // __syncthreads() is what is missing here.
  atomicAdd(sum, numbers[63 - threadIdx.x]);
}

template <class... Params, class... Args>
cudaError_t launch(void (*kernel)(Params...), unsigned threads, cudaStream_t on, Args... args) {
  static_assert(sizeof...(Params) == sizeof...(Args));
  void* pointers[] = {&args..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(threads), pointers, 0, on);
}

}  // namespace

cudaError_t launch_empty(cudaStream_t on) { return launch(empty, 1, on); }

void launch_empty_by_syntax(cudaStream_t on) { empty<<<1, 1, 0, on>>>(); }

cudaError_t launch_fault(fault which, cudaStream_t on) {
  constexpr unsigned long long nowhere = 0x10;
  switch (which) {
    case fault::address:
      return launch(write_to, 1, on, reinterpret_cast<int*>(nowhere));
    case fault::misaligned:
      return launch(write_to, 1, on, reinterpret_cast<int*>(nowhere + 1));
    case fault::trap:
      break;
  }
  return launch(trap, 1, on);
}

cudaError_t launch_spin(int milliseconds, const volatile int* stop, cudaStream_t on) {
  return launch(spin, 1, on, milliseconds * 1'000'000LL, stop);
}

cudaError_t launch_store(int* where, int value, cudaStream_t on) {
  return launch(store, 1, on, where, value);
}

const void* fault_stub(fault which) {
  if (which == fault::trap) return reinterpret_cast<const void*>(&trap);
  return reinterpret_cast<const void*>(&write_to);
}

const void* empty_stub() { return reinterpret_cast<const void*>(&empty); }

const void* fresh_stub(int which) {
  switch (which) {
    case 0:
      return reinterpret_cast<const void*>(&fresh<0>);
    case 1:
      return reinterpret_cast<const void*>(&fresh<1>);
    case 2:
      return reinterpret_cast<const void*>(&fresh<2>);
    default:
      return reinterpret_cast<const void*>(&fresh<3>);
  }
}

cudaError_t launch_past_the_end(int* numbers, int count, cudaStream_t on) {
  return launch(past_the_end, 128, on, numbers, count);
}

cudaError_t launch_race(int* sum, cudaStream_t on) { return launch(race, 64, on, sum); }

}  // namespace heddle::facts
