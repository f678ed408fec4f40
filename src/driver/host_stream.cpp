// SPDX-License-Identifier: Apache-2.0
#include "driver/host_stream.hpp"

#include <utility>

namespace heddle::detail {

void host_stream::enqueue(operation work) { queue_.push_back({std::move(work)}); }

void host_stream::order_after(const host_stream& other, std::uint64_t mark) {
  if (mark == 0 || &other == this || other.reached_by(mark)) return;
  queue_.push_back({operation(), mark, &other});
}

std::uint64_t host_stream::record() {
  if (queue_.empty() && !failure_) return 0;
  queue_.push_back({operation(), ++recorded_});
  return recorded_;
}

std::optional<std::exception_ptr> host_stream::query(std::uint64_t mark) {
  if (mark == 0) return std::exception_ptr();
  if (!reached_by(mark)) return std::nullopt;
  failures_.erase(failures_.begin(),
                  failures_.lower_bound(mark));  // asked for in order: those before were told
  const auto found = failures_.find(mark);
  return found == failures_.end() ? std::exception_ptr() : found->second;
}

bool host_stream::advance() {
  if (queue_.empty()) return false;
  if (queue_.front().other != nullptr) {
    if (!queue_.front().other->reached_by(queue_.front().mark)) return false;
    queue_.pop_front();
    return true;
  }
  entry next = std::move(queue_.front());
  queue_.pop_front();
  if (next.work) {
    if (failure_) return true;  // skipped: what it builds on has failed
    try {
      next.work();
    } catch (...) {
      failure_ = std::current_exception();
    }
    return true;
  }
  if (failure_) failures_.emplace(next.mark, std::exchange(failure_, nullptr));
  reached_.store(next.mark, std::memory_order_release);
  return true;
}

}  // namespace heddle::detail
