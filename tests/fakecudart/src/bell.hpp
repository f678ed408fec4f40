// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace fake {

/// Sleep and wake without any acquire on the waking side. std::atomic::wait will not do: its count of waiters
/// gives the notifier an edge from the sleeper, so that "the host pushes again" would learn what the stream
/// did, and the thread sanitizer would believe the two ordered.
class bell {
 public:
  std::uint32_t look() const { return rings_.load(std::memory_order_relaxed); }
  void ring();
  /// Returns at once if it rang since `seen` was looked at; may return without cause.
  void sleep(std::uint32_t seen);

 private:
  std::atomic<std::uint32_t> rings_{0};
};

}  // namespace fake
