// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace heddle::detail {

/// Moves a thread off a CPU that it shares with one that it works hand in hand with: there each can only act
/// when the other one sleeps. The system leaves both where they are, since one of them always sleeps. Of one
/// thread.
class cpu_leaver {
 public:
  /// They have met on one CPU once more. True if the calling thread runs on another one now: tried after a
  /// few times, and seldom, since a move costs some 20 us and the system may have its reasons.
  bool met() noexcept;

 private:
  static constexpr int meetings_before_move = 3;
  static constexpr std::chrono::microseconds close_together{100};
  static constexpr std::chrono::milliseconds shortest_rest{1}, longest_rest{20};

  int meetings_ = 0;
  std::chrono::steady_clock::time_point last_{};
  std::chrono::steady_clock::time_point next_{};
  std::chrono::milliseconds rest_ = shortest_rest;
};

}  // namespace heddle::detail
