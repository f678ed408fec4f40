// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "heddle/detail/loop.hpp"
#include "heddle/index_range.hpp"

namespace heddle::detail {

class error_sink;

/// What became of the parts of one loop. Any thread.
class loop_outcome {
 public:
  loop_outcome(const loop_request& request, std::stop_token stop)
      : name_(request.name), all_(request.all_or_none ? request.indices : 0), stop_(std::move(stop)) {}
  /// Of what is no loop, but has parts that are numbered as the indices of one.
  loop_outcome(const char* name, std::stop_token stop) : name_(name), all_(0), stop_(std::move(stop)) {}

  /// Parts that begin before this index are to run: nothing before them has failed, and nobody asked to stop.
  std::int64_t wanted_before() const noexcept {
    if (cancelled_.load(std::memory_order_relaxed) || stop_.stop_requested()) return 0;
    return first_failed_.load(std::memory_order_relaxed);
  }
  bool wanted(std::int64_t index) const noexcept { return index < wanted_before(); }
  /// Whether somebody may ask to stop while a part runs.
  bool may_stop() const noexcept { return stop_.stop_possible(); }
  /// No part is to run any more.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  /// The part did not run.
  void left_out(index_range);
  /// The part failed, somewhere.
  void failed(index_range, std::exception_ptr);

  /// Once all parts have ended: throws what the first failed part threw, or `cancelled`; tells `sink` of
  /// other failures; gives the indices not done to `not_done` if it is not null.
  void finish(error_sink& sink, std::vector<index_range>* not_done);

 private:
  [[noreturn]] void throw_first(const std::vector<index_range>& undone) const;

  const char* const name_;
  const std::int64_t all_;  // of the indices, if a part that is not done leaves none of them done; else 0
  const std::stop_token stop_;
  // A hint for parts that have not begun; publishes nothing.
  std::atomic<std::int64_t> first_failed_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<bool> cancelled_{false};  // likewise
  std::mutex mutex_;
  std::exception_ptr first_;                // guarded by mutex_
  std::vector<std::exception_ptr> others_;  // guarded by mutex_; not more than are told
  std::size_t other_count_ = 0;             // guarded by mutex_
  std::vector<index_range> undone_;         // guarded by mutex_
};

}  // namespace heddle::detail
