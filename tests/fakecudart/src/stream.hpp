// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "bell.hpp"
#include "mark.hpp"
#include "task.hpp"

namespace fake {

struct device;
struct capture;

/// Streams and events carry a magic word and are never freed before the process ends: to check a handle takes
/// no lock, so the double adds no edges that would hide races of the code under test.
enum : std::uint32_t { live_stream = 0x57A3, live_event = 0xE7E7, live_pool = 0x9001, dead_handle = 0xDEAD };

/// An in-order queue with a thread of its own, started by the first push.
struct stream {
  stream(device& owner, unsigned stream_flags, int stream_priority, unsigned long long stream_id)
      : dev(owner), flags(stream_flags), priority(stream_priority), id(stream_id) {}

  std::atomic<std::uint32_t> magic{live_stream};
  device& dev;
  const unsigned flags;
  const int priority;
  const unsigned long long id;
  /// Recording into this capture instead of executing.
  std::atomic<capture*> recording{nullptr};

  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
  /// Whether everything pushed so far was executed. A mark at the end counts as soon as it is complete: who
  /// waited for it must not be told a moment later that the stream is busy.
  bool idle() const {
    const std::uint64_t pushed = pushed_.load(std::memory_order_relaxed);
    if (done_.load(std::memory_order_acquire) == pushed) return true;
    const mark* const settled = settled_.load(std::memory_order_acquire);
    return settled != nullptr && settled->position == pushed && settled->ready();
  }
  long queued() const { return idle() ? 0 : static_cast<long>(pushed_.load() - done_.load()); }

  void push(op next);
  template <class F>
  void push(op_kind kind, F body) {
    push(op{task(std::move(body)), kind});
  }
  /// A mark behind everything pushed so far, captured or not.
  mark* mark_now();
  /// Ends the thread behind the queued work. Nothing may be pushed afterwards.
  void stop();

 private:
  struct node {
    op what;
    std::atomic<node*> next{nullptr};
  };
  void push_locked(op next) noexcept;
  void loop();
  void execute(op& what);

  std::mutex producers_;
  node* tail_ = new node{};  // the producers' end, under producers_
  node* head_ = tail_;       // the thread's end; head_ itself was executed
  bool started_ = false;     // under producers_
  std::deque<mark> marks_;   // under producers_; addresses stay
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<mark*> settled_{nullptr};  // the last one that is complete, or about to be
  bell bell_;
};

/// The stream that a handle names: null and legacy mean `current`'s default stream, per-thread the caller's
/// own. Null, and a misuse, for what is no live stream.
stream* stream_of(cudaStream_t handle, device& current);

/// Hands work to the stream, or to the graph it records into, with the legacy stream's rules.
void enqueue(stream& to, op what);
template <class F>
void enqueue(stream& to, op_kind kind, F body) {
  enqueue(to, op{task(std::move(body)), kind});
}
/// What the legacy stream's rules ask for before work enters `to`.
void order_with_legacy(stream& to);

}  // namespace fake
