// SPDX-License-Identifier: Apache-2.0
// A device of a given speed, played by a thread of this machine.
#pragma once

#include <sys/prctl.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "usage.hpp"

namespace bench {

/// Does one thing at a time, and takes as long as it is told.
class throttled_device {
 public:
  /// What one call is too long by is taken from the next one, so that the machine's clock and its other
  /// processes do not count; what lies between two calls does. A device that spins needs a core of its own;
  /// one that sleeps does not, and may be one of many.
  void work_for(double seconds, bool spins = false) {
    const std::lock_guard one_at_a_time(mutex_);
    const double asked = seconds - too_long_;
    const auto began = clock::now();
    if (spins) {
      while (seconds_since(began) < asked) {
      }
    } else if (asked > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(asked));
    }
    too_long_ = seconds_since(began) - asked;
  }
  /// Nothing is taken from the next call: a turn must not gain by what held up the one before.
  void forget() {
    const std::lock_guard one_at_a_time(mutex_);
    too_long_ = 0;
  }

 private:
  std::mutex mutex_;
  double too_long_ = 0;  // seconds; guarded by mutex_
};

/// Threads started from now on by this one sleep to the microsecond; the kernel would add up to 50 of them.
inline void sleep_exactly() { prctl(PR_SET_TIMERSLACK, 1); }

}  // namespace bench
