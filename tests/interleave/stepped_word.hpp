// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "interleave/explorer.hpp"

namespace heddle::interleave {

/// Stands in for std::atomic<Value>: before each access another thread may come first.
template <class Value>
class stepped {
 public:
  stepped(Value value = {}) : value_(value) {}

  Value load(std::memory_order = std::memory_order_seq_cst) const {
    come_to_step();
    return noted("load", value_);
  }
  void store(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    change("store", value);
  }
  Value exchange(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    return change("exchange", value);
  }
  Value fetch_add(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    return change("fetch_add", static_cast<Value>(value_ + value));
  }
  Value fetch_sub(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    return change("fetch_sub", static_cast<Value>(value_ - value));
  }
  Value fetch_or(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    return change("fetch_or", static_cast<Value>(value_ | value));
  }
  Value fetch_and(Value value, std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    return change("fetch_and", static_cast<Value>(value_ & value));
  }
  bool compare_exchange_strong(Value& expected, Value value, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    if (value_ == expected) {
      change("compare_exchange", value);
      return true;
    }
    expected = noted("compare_exchange fails", value_);
    return false;
  }
  bool compare_exchange_weak(Value& expected, Value value, std::memory_order = std::memory_order_seq_cst,
                             std::memory_order = std::memory_order_seq_cst) {
    come_to_step();
    if (value_ == expected && !may_happen()) {
      change("compare_exchange", value);
      return true;
    }
    expected = noted("compare_exchange fails", value_);
    return false;
  }

 private:
  Value change(const char* what, Value to) {
    note(what, this, static_cast<std::uint64_t>(value_), static_cast<std::uint64_t>(to));
    const Value before = value_;
    value_ = to;
    return before;
  }
  Value noted(const char* what, Value seen) const {
    note(what, this, static_cast<std::uint64_t>(seen), static_cast<std::uint64_t>(seen));
    return seen;
  }

  Value value_;
};

/// What an inbox stands on, for the explorer.
struct stepped_futex {
  using word = stepped<std::uint64_t>;
  static void wait(word& w, std::uint64_t seen) {
    if (w.load() == seen) sleep_on(&w, false);  // in one step: nobody comes between
  }
  static void wait_until(word& w, std::uint64_t seen, std::chrono::steady_clock::time_point) {
    if (w.load() == seen) sleep_on(&w, true);
  }
  static void wake_all(word& w) {
    come_to_step();
    note("wake", &w, 0, 0);
    interleave::wake_all(&w);
  }
};

}  // namespace heddle::interleave
