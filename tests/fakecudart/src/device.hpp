// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "bell.hpp"
#include "stream.hpp"

namespace fake {

struct machine;
struct pool;

/// What a CUcontext points at; there is one per device, the primary one.
struct primary_context {
  static constexpr std::uint32_t magic_word = 0xC0DE;
  std::uint32_t magic = magic_word;
  device* dev = nullptr;
  std::atomic<bool> active{false};
  std::atomic<bool> runtime_hold{false};
  std::atomic<long> refs{0};
  std::atomic<long> made{0};
  std::mutex making;
};

struct device {
  device(machine& where, int number, std::size_t bytes, int devices);

  machine* const home;
  const int id;
  std::string name;
  std::string pci;
  char uuid[16] = {};
  std::atomic<int> numa{0};

  primary_context context;
  std::atomic<int> refuse{0};  // what the making of a context fails with

  std::atomic<int> sticky{0};
  std::atomic<long> fault_in{-1};
  std::atomic<int> fault_error{0};
  std::atomic<int> launch_us{0}, kernel_us{0}, copy_us{0};

  stream* const legacy;
  std::atomic<long> kernels{0}, events{0}, default_pool_touched{0};
  std::mutex
      callback_mutex;  // harsh: one host function at a time, as one thread of the driver would run them

  std::mutex mutex;  // guards the rest
  std::unordered_set<stream*> streams;
  std::unordered_set<stream*> implicit_streams;  // of cudaStreamPerThread
  std::vector<mark*> draining;                   // ends of destroyed streams with work in them
  std::size_t capacity = 0, committed = 0, in_use = 0;
  std::vector<char> reachable, corrupt;  // by device
  std::unordered_set<int> peers;         // enabled from here
  std::set<pool*> pools;                 // every one that may hold memory
  pool* default_pool = nullptr;
  pool* current_pool = nullptr;

  cudaError_t sticky_error() const {
    return static_cast<cudaError_t>(sticky.load(std::memory_order_relaxed));
  }
  void count_towards_fault();

  void gate(bool closed);
  void wait_for_gate();

  std::vector<stream*> blocking_streams();
  /// Waits for everything queued so far.
  cudaError_t wait_idle();

 private:
  std::atomic<bool> gated_{false};
  bell gate_bell_;

 public:
  bool gated() const { return gated_.load(std::memory_order_relaxed); }
};

}  // namespace fake
