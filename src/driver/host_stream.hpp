// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "driver/driver.hpp"
#include "heddle/detail/operation.hpp"

namespace heddle::detail {

/// An in-order queue of host functions. Used by one thread, but for what says otherwise.
class host_stream {
 public:
  void enqueue(operation work);
  /// The same for work that has to be done whether or not the item's earlier work failed.
  void clean_up(operation work);
  void order_after(const host_stream& other, std::uint64_t mark);
  std::uint64_t record(mark_kind);
  std::optional<std::exception_ptr> query(std::uint64_t mark) const;
  /// Runs the oldest function; false if there is none, or if it waits for another stream.
  bool advance();
  bool empty() const noexcept { return queue_.empty(); }
  /// Whether all work up to `mark` has run. Any thread.
  bool reached_by(std::uint64_t mark) const noexcept {
    return reached_.load(std::memory_order_acquire) >= mark;
  }

 private:
  struct entry {
    operation work;          // empty: a mark or an order
    std::uint64_t mark = 0;  // not 0: a mark
    mark_kind kind = mark_kind::event;
    const host_stream* other = nullptr;  // not null: waits for `mark` of it
    bool always = false;                 // runs after failed work too
  };
  /// The failure that a reached mark stands behind; null if there is none. Any thread.
  std::exception_ptr failure_at(std::uint64_t mark) const;
  void fail(std::exception_ptr error);

  std::list<entry> queue_;  // holds no memory while it is empty, as most are
  std::uint64_t recorded_ = 0;
  std::atomic<std::uint64_t> reached_{
      0};                       // publishes what the work up to it wrote, to streams of other devices
  std::exception_ptr failure_;  // of the item whose work is at the front; the rest of it is skipped
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::exception_ptr> failures_;  // by mark, the latest ones; guarded by mutex_
};

}  // namespace heddle::detail
