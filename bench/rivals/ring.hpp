// SPDX-License-Identifier: Apache-2.0
// One thread writes functions into a ring and one calls them; both spin. What no queue for more can beat.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

namespace bench {

class ring {
 public:
  using function = void (*)();

  /// Starts the thread that calls, which lives from here to `stop()`: it would disturb the rivals.
  void start() {
    written_ = read_ = known_read_ = 0;
    reader_ = std::thread([this] {
      for (std::size_t k = 0;; ++k) {
        while (written_.load(std::memory_order_acquire) == k) __builtin_ia32_pause();
        const function f = slots_[k % slots_.size()];
        if (f == nullptr) return;
        f();
        read_.store(k + 1, std::memory_order_release);
      }
    });
  }
  void stop() {
    push(nullptr);
    reader_.join();
  }
  /// One thread at a time.
  void push(function f) {
    const std::size_t k = written_.load(std::memory_order_relaxed);
    while (k - known_read_ >= slots_.size()) known_read_ = read_.load(std::memory_order_acquire);
    slots_[k % slots_.size()] = f;
    written_.store(k + 1, std::memory_order_release);
  }
  void drain() {
    while (read_.load(std::memory_order_acquire) != written_) __builtin_ia32_pause();
    known_read_ = read_;
  }

 private:
  std::array<function, 4096> slots_;
  alignas(64) std::atomic<std::size_t> written_{0};
  std::size_t known_read_ = 0;  // what the writer saw last
  alignas(64) std::atomic<std::size_t> read_{0};
  std::thread reader_;
};

}  // namespace bench
