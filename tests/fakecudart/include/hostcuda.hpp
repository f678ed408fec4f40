// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets a plain C++ compiler build kernel sources: a __global__ function becomes a function, and a launch on
// the double runs every thread of the grid, one after the other, on the stream's thread. The threads of a
// block may be fibers, so that __syncthreads and __shared__ work. There are no warp intrinsics.

#ifndef __CUDACC__
#include <cuda_runtime_api.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "fakecudart_twin.hpp"

// g++ fears for variables that live across swapcontext; these do not change after it.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                                       dim3*, int*);

inline thread_local uint3 threadIdx;
inline thread_local uint3 blockIdx;
inline thread_local dim3 blockDim;
inline thread_local dim3 gridDim;
#undef __shared__
#define __shared__ static thread_local

namespace hostcuda {

constexpr std::size_t fiber_stack_bytes = std::size_t{64} << 10;

/// One block of a grid whose threads are fibers.
struct fiber_block {
  struct fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    uint3 index{};
    bool live = true;
  };
  ucontext_t home{};
  std::vector<fiber> fibers;
  std::size_t now = 0;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
};
inline thread_local fiber_block* running = nullptr;

inline void enter_fiber() {
  fiber_block* const block = running;
  block->body(block->argument);
  block->fibers[block->now].live = false;
  swapcontext(&block->fibers[block->now].context, &block->home);
}

/// To the next fiber; comes back when all the others had their turn.
inline void yield() {
  fiber_block* const block = running;
  if (block == nullptr) return;
  swapcontext(&block->fibers[block->now].context, &block->home);
  threadIdx = block->fibers[block->now].index;
}

inline uint3 thread_index(std::size_t thread, const fakecuda_dim3& block) {
  return {static_cast<unsigned>(thread % block.x), static_cast<unsigned>(thread / block.x % block.y),
          static_cast<unsigned>(thread / block.x / block.y)};
}

template <class Call>
void run_block_of_fibers(const fakecuda_dim3& shape, std::size_t threads, Call& call) {
  fiber_block block;
  block.fibers.resize(threads);
  block.argument = &call;
  block.body = [](void* argument) { (*static_cast<Call*>(argument))(); };
  running = &block;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    fiber_block::fiber& fiber = block.fibers[thread];
    fiber.index = thread_index(thread, shape);
    fiber.stack.reset(new char[fiber_stack_bytes]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = fiber_stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter_fiber, 0);
  }
  for (std::size_t left = threads; left > 0;) {
    left = 0;
    for (block.now = 0; block.now < threads; ++block.now) {
      fiber_block::fiber& fiber = block.fibers[block.now];
      if (!fiber.live) continue;
      threadIdx = fiber.index;
      swapcontext(&block.home, &fiber.context);
      if (fiber.live) ++left;
    }
  }
  running = nullptr;
}

template <bool Fibers, class Call>
void run_grid(const fakecuda_launch& where, Call call) {
  gridDim = dim3(where.grid.x, where.grid.y, where.grid.z);
  blockDim = dim3(where.block.x, where.block.y, where.block.z);
  const std::size_t threads = std::size_t{where.block.x} * where.block.y * where.block.z;
  for (unsigned z = 0; z < where.grid.z; ++z) {
    for (unsigned y = 0; y < where.grid.y; ++y) {
      for (unsigned x = 0; x < where.grid.x; ++x) {
        blockIdx = {x, y, z};
        if constexpr (Fibers) {
          run_block_of_fibers(where.block, threads, call);
        } else {
          for (std::size_t thread = 0; thread < threads; ++thread) {
            threadIdx = thread_index(thread, where.block);
            call();
          }
        }
      }
    }
  }
}

template <auto Kernel, bool Fibers, class... A>
void grid_twin(const fakecuda_launch& where, A... values) {
  run_grid<Fibers>(where, [&] { Kernel(values...); });
}

/// Tells the double about a kernel, as nvcc's start-up code does; after it cudaGetKernel and every kind of
/// launch know the function. `Fibers` for kernels that call __syncthreads.
template <auto Kernel, bool Fibers = false, class... A>
bool adopt(void (*kernel)(A...), const char* name = "host kernel") {
  __cudaRegisterFunction(nullptr, reinterpret_cast<const char*>(kernel), nullptr, name, -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
  return fakecuda::bind<&grid_twin<Kernel, Fibers, A...>>(kernel, name);
}

}  // namespace hostcuda

inline void __syncthreads() { hostcuda::yield(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

inline int atomicAdd(int* at, int value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

#pragma GCC diagnostic pop
#endif  // __CUDACC__
