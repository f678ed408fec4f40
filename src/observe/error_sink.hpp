// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "heddle/error.hpp"

namespace heddle::detail {

/// Where a scheduler's errors go that no future carries. Any thread; one call of the user's function at a
/// time.
class error_sink {
 public:
  explicit error_sink(std::function<void(const error_event&)> function) : function_(std::move(function)) {}

  /// Calls the user's function, or writes a line to standard error. An exception of the user's function ends
  /// here, as a line. A report made from inside the function is written as a line too.
  void report(const error_event&) noexcept;

 private:
  std::mutex mutex_;
  const std::function<void(const error_event&)> function_;
};

/// Makes a sink reachable by its scheduler's serial number, for futures that outlive the scheduler.
void register_sink(std::uint64_t serial, std::shared_ptr<error_sink>);
void unregister_sink(std::uint64_t serial) noexcept;

/// Reports to the scheduler's sink; to standard error once the scheduler is gone.
void report_to(std::uint64_t serial, const error_event&) noexcept;

/// What `error` says: its what(), or a sentence for exceptions that are no std::exception.
std::string text_of(const std::exception_ptr& error);

}  // namespace heddle::detail
