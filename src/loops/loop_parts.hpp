// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "heddle/future.hpp"

namespace heddle::detail {

/// The items of a loop that does not block, until its last item takes them: so long it can be cancelled.
class loop_parts {
 public:
  /// `stop`: keeps those that run from what they have not begun.
  explicit loop_parts(std::vector<future<void>> parts, std::function<void()> stop = {})
      : parts_(std::move(parts)), stop_(std::move(stop)) {}

  /// Before there is a last item.
  std::vector<item*> items() const;
  /// Cancels those that have not begun, and stops the others; false, and nothing done, if all have begun. Any
  /// thread.
  bool cancel();
  std::vector<future<void>> take() noexcept;

 private:
  std::mutex mutex_;
  std::vector<future<void>> parts_;  // guarded by mutex_
  std::function<void()> stop_;       // likewise
};

/// How a part has ended.
struct part_end {
  std::exception_ptr error;  // null: well
  bool unstarted = false;    // it was cancelled
};
/// Of one that has.
part_end end_of(future<void>& part) noexcept;

}  // namespace heddle::detail
