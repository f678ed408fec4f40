// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// Closed until opened, once. Opens by itself at the end of its scope, so that a failed assertion does not
/// turn into a hang of the scheduler's end: declare it after the scheduler, and see to it that a test that
/// goes well has waited for its items before the scope ends.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate() { open(); }

  void open() noexcept {
    open_.store(true);
    open_.notify_all();
  }
  void wait() const noexcept { open_.wait(false); }
  bool is_open() const noexcept { return open_.load(); }

 private:
  std::atomic<bool> open_{false};
};

/// Keeps the thread of one device in an item, from construction on until `release`.
class occupied_device {
 public:
  occupied_device(scheduler& s, int id)
      : held_(s.submit(
            [this] {
              entered_.open();
              leave_.wait();
            },
            route::on(id))) {
    entered_.wait();
  }
  occupied_device(const occupied_device&) = delete;
  occupied_device& operator=(const occupied_device&) = delete;
  ~occupied_device() { release(); }

  void release() {
    leave_.open();
    if (held_.valid()) held_.get();
  }

 private:
  gate entered_, leave_;
  future<void> held_;
};

}  // namespace heddle::test
