// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

#include "driver/cuda_events.hpp"
#include "driver/driver.hpp"
#include "heddle/detail/operation.hpp"

namespace heddle::detail {

/// A CUDA stream, with host functions in its order. Those run on the device thread once the event behind the
/// work before them is reached; what is put on the stream meanwhile is held back here. (cudaLaunchHostFunc
/// would run them on a thread that may not call CUDA, and not at all after a context error.) Used by its
/// device thread, but for what says otherwise.
class cuda_stream {
 public:
  /// Throws `device_error`; `id` is heddle's.
  cuda_stream(int id, int index, int priority, cuda_events& events);
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  ~cuda_stream();

  void enqueue(operation work);
  bool runs_at_once() noexcept;
  /// See `driver::issue`.
  void issue(operation work);
  /// Calls `work`, which frees something in stream order: it needs no mark, and is done after failed work
  /// too.
  void clean_up(operation work);
  std::uint64_t record(mark_kind) noexcept;
  std::optional<std::exception_ptr> query(std::uint64_t mark);
  void order_after(cuda_stream& other, std::uint64_t mark);
  /// Runs the host functions whose turn has come, and issues what they held back; whether there was any.
  bool advance();
  /// Waits until what was freed on the stream is free, if nothing but that can be pending.
  void settle() noexcept;
  bool holds_back() const noexcept { return !held_.empty(); }
  /// For code that puts work on it by itself, from now on at any time.
  cudaStream_t expose() noexcept {
    exposed_ = true;
    return native_;
  }
  cudaStream_t native() const noexcept { return native_; }
  /// For an allocation in its order: who uses the memory on another stream has to come after that, so the
  /// item that made it is not done before.
  cudaStream_t native_for_allocation() noexcept {
    unmarked_ = item_work_ = true;
    return native_;
  }

 private:
  enum class kind { host_function, device_work, clean_up, mark, order };
  struct entry {
    kind what;
    operation work = {};
    std::uint64_t mark = 0;
    mark_kind mark_for = mark_kind::event;
    cuda_stream* other = nullptr;
  };
  struct issued_mark {
    std::uint64_t number;
    cudaEvent_t event;  // null: reached as soon as those before it are
  };

  bool may_pass(entry& front) noexcept;
  bool fence_reached();
  void pass(entry& front) noexcept;
  void run(operation& work) noexcept;
  void fail(std::exception_ptr error) noexcept;
  void issue_mark(std::uint64_t number, mark_kind) noexcept;
  bool try_order_after(cuda_stream& other, std::uint64_t mark);
  void poll() noexcept;
  void wait_without_events() noexcept;
  std::exception_ptr asynchronous_failure(cudaError_t) const;
  void end_left_capture() noexcept;
  std::exception_ptr failure_at(std::uint64_t mark) const;  // guarded by mutex_

  const int id_, index_;
  cuda_events& events_;
  cudaStream_t native_ = nullptr;
  std::deque<entry> held_;       // empty, or a host function or an order is at the front
  cudaEvent_t fence_ = nullptr;  // behind the work before the host function at the front
  bool unmarked_ = false;        // native work since the last event
  bool item_work_ = false;       // native work since the last item's end
  bool exposed_ = false;         // then work may come without our knowing
  std::exception_ptr failure_;   // of the item whose work is being issued; the rest of it is left out
  std::uint64_t recorded_ = 0;   // marks given out
  std::atomic<std::uint64_t> reached_{0};  // publishes what the work up to it wrote

  mutable std::mutex mutex_;       // other devices' threads order their streams behind these marks
  std::deque<issued_mark> marks_;  // oldest first; guarded by mutex_
  std::uint64_t issued_ = 0;       // guarded by mutex_
  std::map<std::uint64_t, std::exception_ptr> failures_;  // by mark, the latest ones; guarded by mutex_
};

}  // namespace heddle::detail
