// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakecudart.h"

#if defined(__has_feature)
#define FAKECUDA_HAS_FEATURE(name) __has_feature(name)
#else
#define FAKECUDA_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || FAKECUDA_HAS_FEATURE(thread_sanitizer)
constexpr bool thread_sanitizer = true;
#else
constexpr bool thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || FAKECUDA_HAS_FEATURE(address_sanitizer)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

/// A fresh machine of four devices for each test; at its end nothing may be left, and the only misuses are
/// those that the test expected.
class machine_test : public testing::Test {
 protected:
  static constexpr int devices = 4;
  static constexpr std::size_t device_bytes = std::size_t{1} << 20;

  void SetUp() override { fakecuda_reset(devices, device_bytes); }

  void TearDown() override {
    for (; !releases_.empty(); releases_.pop_back()) EXPECT_EQ(releases_.back()(), cudaSuccess);
    char text[512];
    EXPECT_EQ(fakecuda_misuse(text, sizeof text), misuses_) << text;
    if (leaves_things_) return;
    fakecuda_drain();
    const fakecuda_live_t left = fakecuda_live(-1);
    EXPECT_EQ(left.streams, 0);
    EXPECT_EQ(left.events, 0);
    EXPECT_EQ(left.device_allocs, 0);
    EXPECT_EQ(left.host_allocs, 0);
    EXPECT_EQ(left.graphs, 0);
    EXPECT_EQ(left.pools, 0);
    EXPECT_EQ(left.device_bytes, 0U);
  }

  /// One more misuse than before, whose text contains `part`.
  void expect_misuse(const std::string& part) {
    char text[512];
    EXPECT_EQ(fakecuda_misuse(text, sizeof text), ++misuses_);
    EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
  }
  void leaves_things() { leaves_things_ = true; }

  /// What is made here is released when the test ends, newest first.
  cudaStream_t make_stream() { return kept(bare_stream(), cudaStreamDestroy); }
  cudaEvent_t make_event() { return kept(bare_event(), cudaEventDestroy); }
  char* make_memory(std::size_t bytes) { return kept(bare_memory(bytes), cudaFree); }
  char* make_pinned(std::size_t bytes) { return kept(bare_pinned(bytes), cudaFreeHost); }
  cudaMemPool_t make_pool(int device) { return kept(bare_pool(device), cudaMemPoolDestroy); }

  /// The same for the test to release.
  static cudaStream_t bare_stream() {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), cudaSuccess);
    return made;
  }
  static cudaEvent_t bare_event() {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), cudaSuccess);
    return made;
  }
  static char* bare_memory(std::size_t bytes) {
    void* made = nullptr;
    EXPECT_EQ(cudaMalloc(&made, bytes), cudaSuccess);
    return static_cast<char*>(made);
  }
  static char* bare_pinned(std::size_t bytes) {
    void* made = nullptr;
    EXPECT_EQ(cudaMallocHost(&made, bytes), cudaSuccess);
    return static_cast<char*>(made);
  }
  static cudaMemPool_t bare_pool(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    cudaMemPool_t made = nullptr;
    EXPECT_EQ(cudaMemPoolCreate(&made, &properties), cudaSuccess);
    return made;
  }
  /// For cudaLaunchHostFunc: adds one to a std::atomic<int>.
  static void count(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }
  /// On a thread that never used the runtime.
  template <class F>
  static void on_new_thread(F body) {
    std::thread(std::move(body)).join();
  }
  template <class Function>
  static Function* driver_function(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &result), cudaSuccess);
    EXPECT_EQ(result, cudaDriverEntryPointSuccess) << name;
    return reinterpret_cast<Function*>(found);
  }

 private:
  template <class Handle, class Released>
  Handle kept(Handle made, cudaError_t (*release)(Released)) {
    releases_.push_back([=] { return release(made); });
    return made;
  }

  std::vector<std::function<cudaError_t()>> releases_;
  int misuses_ = 0;
  bool leaves_things_ = false;
};
