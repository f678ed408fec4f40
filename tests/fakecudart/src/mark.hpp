// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "bell.hpp"

namespace fake {

/// The completion of one point in a stream. Atomics only: the sole edge goes from the stream to whoever sees
/// it done, as on a GPU. A mutex would also order a poller before the stream, and so hide from the thread
/// sanitizer that the host touched a buffer too early. Owned by its stream and never freed.
class mark {
 public:
  using clock = std::chrono::steady_clock;

  /// How much its stream had been given, itself included. Set before the stream gets it.
  std::uint64_t position = 0;

  void complete(cudaError_t status) {
    at_ = clock::now();
    state_.store(status, std::memory_order_release);
    bell_.ring();
  }
  cudaError_t wait() {
    for (;;) {
      const std::uint32_t seen = bell_.look();
      const int state = state_.load(std::memory_order_acquire);
      if (state != pending) return static_cast<cudaError_t>(state);
      bell_.sleep(seen);
    }
  }
  bool ready() const { return state_.load(std::memory_order_acquire) != pending; }
  /// Once ready.
  clock::time_point at() const { return at_; }

 private:
  static constexpr int pending = -1;
  std::atomic<int> state_{pending};
  bell bell_;
  clock::time_point at_{};
};

}  // namespace fake
