// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>
#include <utility>

namespace heddle::test {

/// An object whose living copies are counted, over the whole process. The fixture checks that none is left.
class counted {
 public:
  counted() noexcept { ++living_; }
  counted(const counted&) noexcept { ++living_; }
  counted(counted&&) noexcept { ++living_; }
  counted& operator=(const counted&) noexcept = default;
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --living_; }

  static int living() noexcept { return living_.load(); }

 private:
  static inline std::atomic<int> living_{0};
};

/// Where and how often one callable's capture died; outlives the callable.
struct death_record {
  std::atomic<int> deaths{0};
  std::atomic<std::thread::id> thread{};
};

/// Move-only: tells its record when it dies, unless it was moved from.
class mortal {
 public:
  explicit mortal(death_record& record) noexcept : record_(&record) {}
  mortal(mortal&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  mortal& operator=(mortal&&) = delete;
  ~mortal() {
    if (record_ == nullptr) return;
    record_->thread = std::this_thread::get_id();
    ++record_->deaths;
  }

 private:
  death_record* record_;
  counted alive_;
};

}  // namespace heddle::test
