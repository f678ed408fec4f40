// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_stream.hpp"

#include <string>
#include <utility>

#include "driver/cuda_context.hpp"
#include "driver/cuda_error.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {
constexpr std::size_t failures_kept = 256;  // a bound for programs that fail for ever; each is asked for soon
}

cuda_stream::cuda_stream(int id, int index, int priority, cuda_events& events)
    : id_(id), index_(index), events_(events) {
  check_cuda(cudaStreamCreateWithPriority(&native_, cudaStreamNonBlocking, priority),
             "cudaStreamCreateWithPriority", id);
}

cuda_stream::~cuda_stream() {
  for (const issued_mark& each : marks_) {
    if (each.event != nullptr) events_.give_back(each.event);
  }
  if (fence_ != nullptr) events_.give_back(fence_);
  clear_own_error(cudaStreamDestroy(native_));
}

bool cuda_stream::runs_at_once() noexcept {
  if (!held_.empty() || unmarked_ || exposed_ || failure_) return false;
  poll();
  return marks_.empty();
}

void cuda_stream::enqueue(operation work) {
  if (runs_at_once()) return work();
  held_.push_back({kind::host_function, std::move(work)});
}

void cuda_stream::issue(operation work) {
  if (!held_.empty()) {
    held_.push_back({kind::device_work, std::move(work)});
  } else if (!failure_) {
    unmarked_ = item_work_ = true;  // also where it throws: some of it may have been put there
    work();
  }
}

void cuda_stream::clean_up(operation work) {
  if (held_.empty()) return work();
  held_.push_back({kind::clean_up, std::move(work)});
}

void cuda_stream::settle() noexcept {
  poll();
  if (held_.empty() && !unmarked_ && !exposed_ && marks_.empty())
    clear_own_error(cudaStreamSynchronize(native_));
}

std::uint64_t cuda_stream::record(mark_kind what) noexcept {
  if (exposed_) unmarked_ = item_work_ = true;
  if (what == mark_kind::end_of_item) end_left_capture();
  if (!held_.empty()) {
    held_.push_back({kind::mark, {}, ++recorded_, what});
    return recorded_;
  }
  if (failure_ || unmarked_) {
    issue_mark(++recorded_, what);
    return recorded_;
  }
  const bool own_work = what == mark_kind::event || item_work_;
  if (what == mark_kind::end_of_item) item_work_ = false;
  if (!own_work) return 0;
  poll();
  return marks_.empty() ? 0 : recorded_;  // the last mark stands behind all of it
}

void cuda_stream::issue_mark(std::uint64_t number, mark_kind what) noexcept {
  cudaEvent_t event = nullptr;
  if (unmarked_) {
    try {
      event = events_.take();
      const cudaError_t status = cudaEventRecord(event, native_);
      if (status != cudaSuccess) events_.give_back(std::exchange(event, nullptr));
      check_cuda(status, "cudaEventRecord", id_);
    } catch (...) {
      wait_without_events();
      fail(std::current_exception());
    }
    unmarked_ = false;
  }
  const std::lock_guard lock(mutex_);
  if (failure_) {
    failures_.emplace(number, failure_);
    if (failures_.size() > failures_kept) failures_.erase(failures_.begin());
  }
  if (what == mark_kind::end_of_item) {
    failure_ = nullptr;
    item_work_ = false;
  }
  marks_.push_back({number, event});
  issued_ = number;
}

// Code of the item that began a capture and did not end it would have all that follows recorded, not run.
void cuda_stream::end_left_capture() noexcept {
  if (!exposed_) return;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t asked = cudaStreamIsCapturing(native_, &status);
  clear_own_error(asked);
  if (asked != cudaSuccess || status == cudaStreamCaptureStatusNone) return;
  cudaGraph_t graph = nullptr;
  clear_own_error(cudaStreamEndCapture(native_, &graph));
  if (graph != nullptr) clear_own_error(cudaGraphDestroy(graph));
  fail(std::make_exception_ptr(
      device_error(id_, "the item's work on stream " + std::to_string(index_),
                   "the item left its stream capturing; call cudaStreamEndCapture before it returns")));
}

// What the work uses may not be freed before the work is done. A device that is beyond use answers at once.
void cuda_stream::wait_without_events() noexcept { clear_own_error(cudaStreamSynchronize(native_)); }

std::exception_ptr cuda_stream::asynchronous_failure(cudaError_t status) const {
  return std::make_exception_ptr(
      device_error(id_, "work on stream " + std::to_string(index_),
                   cuda_text(status) + ", of this work or of other work in flight on the device",
                   static_cast<int>(status), cudaGetErrorName(status)));
}

void cuda_stream::poll() noexcept {
  const std::lock_guard lock(mutex_);
  while (!marks_.empty()) {
    const issued_mark oldest = marks_.front();
    if (oldest.event != nullptr) {
      const cudaError_t status = query_event(oldest.event);
      if (status == cudaErrorNotReady) return;
      if (status != cudaSuccess) {
        wait_without_events();
        failures_.emplace(oldest.number, asynchronous_failure(status));
      }
      events_.give_back(oldest.event);
    }
    marks_.pop_front();
    reached_.store(oldest.number, std::memory_order_release);
  }
}

std::optional<std::exception_ptr> cuda_stream::query(std::uint64_t mark) {
  if (mark == 0) return std::exception_ptr();
  if (reached_.load(std::memory_order_acquire) < mark) {
    poll();
    if (reached_.load(std::memory_order_acquire) < mark) return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  return failure_at(mark);
}

std::exception_ptr cuda_stream::failure_at(std::uint64_t mark) const {
  const auto found = failures_.find(mark);
  return found == failures_.end() ? nullptr : found->second;
}

void cuda_stream::fail(std::exception_ptr error) noexcept {
  if (!failure_) failure_ = std::move(error);
}

void cuda_stream::run(operation& work) noexcept {
  if (failure_) return;  // what it builds on has failed
  try {
    work();
  } catch (...) {
    fail(std::current_exception());
  }
}

void cuda_stream::order_after(cuda_stream& other, std::uint64_t mark) {
  if (mark == 0 || &other == this) return;
  if (held_.empty() && try_order_after(other, mark)) return;
  held_.push_back({kind::order, {}, mark, mark_kind::event, &other});
}

// False while the mark waits for a host function of the other stream.
bool cuda_stream::try_order_after(cuda_stream& other, std::uint64_t mark) {
  const std::lock_guard lock(other.mutex_);  // the event may not be used again before the wait is placed
  if (mark > other.issued_) return false;
  if (auto error = other.failure_at(mark)) fail(std::move(error));
  for (const issued_mark& each : other.marks_) {
    if (each.number < mark || each.event == nullptr) continue;
    check_cuda(cudaStreamWaitEvent(native_, each.event, 0), "cudaStreamWaitEvent", id_);
    unmarked_ = item_work_ = true;
    break;
  }
  return true;
}

bool cuda_stream::advance() {
  bool progressed = false;
  while (!held_.empty() && may_pass(held_.front())) {
    entry front = std::move(held_.front());  // what it calls may put more on the stream, or advance it
    held_.pop_front();
    pass(front);
    progressed = true;
  }
  return progressed;
}

bool cuda_stream::may_pass(entry& front) noexcept {
  try {
    if (front.what == kind::host_function) return fence_reached();
    if (front.what == kind::order) return try_order_after(*front.other, front.mark);
  } catch (...) {
    fail(std::current_exception());
  }
  return true;
}

// Whether the native work before the host function at the front is done.
bool cuda_stream::fence_reached() {
  if (fence_ == nullptr) {
    poll();
    if (!unmarked_ && !exposed_ && marks_.empty()) return true;
    fence_ = events_.take();
    const cudaError_t status = cudaEventRecord(fence_, native_);
    if (status != cudaSuccess) events_.give_back(std::exchange(fence_, nullptr));
    check_cuda(status, "cudaEventRecord", id_);
  }
  const cudaError_t status = query_event(fence_);
  if (status == cudaErrorNotReady) return false;
  events_.give_back(std::exchange(fence_, nullptr));
  unmarked_ = false;
  if (status != cudaSuccess) {
    wait_without_events();
    std::rethrow_exception(asynchronous_failure(status));
  }
  return true;
}

void cuda_stream::pass(entry& front) noexcept {
  switch (front.what) {
    case kind::host_function:
      run(front.work);
      break;
    case kind::device_work:
      if (!failure_) unmarked_ = item_work_ = true;
      run(front.work);
      break;
    case kind::clean_up:
      front.work();
      break;
    case kind::mark:
      issue_mark(front.mark, front.mark_for);
      break;
    case kind::order:
      break;
  }
}

}  // namespace heddle::detail
