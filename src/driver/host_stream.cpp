// SPDX-License-Identifier: Apache-2.0
#include "driver/host_stream.hpp"

#include <utility>

namespace heddle::detail {

namespace {
constexpr std::size_t failures_kept = 256;  // a bound for programs that fail for ever; each is asked for soon
}

void host_stream::enqueue(operation work) { queue_.push_back({std::move(work)}); }

void host_stream::clean_up(operation work) {
  queue_.push_back({std::move(work), 0, mark_kind::event, nullptr, true});
}

void host_stream::order_after(const host_stream& other, std::uint64_t mark) {
  if (mark == 0 || &other == this) return;
  queue_.push_back({operation(), mark, mark_kind::event, &other});
}

std::uint64_t host_stream::record(mark_kind kind) {
  if (queue_.empty() && !failure_) return 0;
  queue_.push_back({operation(), ++recorded_, kind});
  return recorded_;
}

std::optional<std::exception_ptr> host_stream::query(std::uint64_t mark) const {
  if (mark == 0) return std::exception_ptr();
  if (!reached_by(mark)) return std::nullopt;
  return failure_at(mark);
}

std::exception_ptr host_stream::failure_at(std::uint64_t mark) const {
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(mark);
  return found == failures_.end() ? nullptr : found->second;
}

void host_stream::fail(std::exception_ptr error) {
  if (!failure_) failure_ = std::move(error);
}

bool host_stream::advance() {
  if (queue_.empty()) return false;
  auto& front = queue_.front();
  if (front.other != nullptr) {
    if (!front.other->reached_by(front.mark)) return false;
    if (auto error = front.other->failure_at(front.mark)) fail(std::move(error));
    queue_.pop_front();
    return true;
  }
  entry next = std::move(front);
  queue_.pop_front();
  if (next.work) {
    if (failure_ && !next.always) return true;  // what it builds on has failed
    try {
      next.work();
    } catch (...) {
      fail(std::current_exception());
    }
    return true;
  }
  if (failure_) {
    const std::lock_guard lock(mutex_);
    failures_.emplace(next.mark, failure_);
    if (failures_.size() > failures_kept) failures_.erase(failures_.begin());
  }
  if (next.kind == mark_kind::end_of_item) failure_ = nullptr;
  reached_.store(next.mark, std::memory_order_release);
  return true;
}

}  // namespace heddle::detail
