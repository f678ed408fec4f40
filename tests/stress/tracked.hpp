// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <utility>

namespace heddle::test {

/// How often something happened. Shared by the objects that count in it.
struct tally {
  std::atomic<int> live{0};
  std::atomic<int> most{0};
  std::atomic<int> ran{0};
  std::atomic<int> destroyed{0};
};

/// A move-only value that is alive once: what was moved from counts no more.
class tracked {
 public:
  explicit tracked(tally& in) : in_(&in) { note(in.live.fetch_add(1) + 1); }
  tracked(tracked&& other) noexcept : in_(std::exchange(other.in_, nullptr)) {}
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  ~tracked() {
    if (in_ == nullptr) return;
    in_->destroyed.fetch_add(1);
    in_->live.fetch_sub(1);
  }
  void run() const { in_->ran.fetch_add(1); }

 private:
  void note(int live) const {
    int most = in_->most.load();
    while (live > most && !in_->most.compare_exchange_weak(most, live)) {
    }
  }
  tally* in_;
};

/// Raises the count while it lives, and remembers the highest.
class inside {
 public:
  inside(std::atomic<int>& now, std::atomic<int>& most) : now_(now) {
    const int count = now.fetch_add(1) + 1;
    int before = most.load();
    while (count > before && !most.compare_exchange_weak(before, count)) {
    }
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() { now_.fetch_sub(1); }

 private:
  std::atomic<int>& now_;
};

}  // namespace heddle::test
