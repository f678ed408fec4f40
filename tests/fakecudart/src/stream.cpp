// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "device.hpp"
#include "machine.hpp"
#include "thread_state.hpp"

namespace fake {

void stream::push_locked(op next) noexcept {
  auto* const added = new node{std::move(next)};
  pushed_.fetch_add(1, std::memory_order_relaxed);
  tail_->next.store(added, std::memory_order_release);
  tail_ = added;
  if (!started_) {
    started_ = true;
    dev.home->workers.fetch_add(1, std::memory_order_relaxed);
    std::thread([this] { loop(); }).detach();
  }
  bell_.ring();
}

void stream::push(op next) {
  const std::lock_guard lock(producers_);
  push_locked(std::move(next));
}

mark* stream::mark_now() {
  const std::lock_guard lock(producers_);
  mark* const made = &marks_.emplace_back();
  made->position = pushed_.load(std::memory_order_relaxed) + 1;
  push_locked(op{task([made, this] {
                   settled_.store(made, std::memory_order_release);
                   made->complete(dev.sticky_error());
                 }),
                 op_kind::marker});
  return made;
}

void stream::stop() {
  {
    const std::lock_guard lock(producers_);
    if (!started_) return;
  }
  push(op{task(), op_kind::stop});
}

void stream::loop() {
  for (;;) {
    node* next = nullptr;
    for (;;) {
      const std::uint32_t seen = bell_.look();
      next = head_->next.load(std::memory_order_acquire);
      if (next != nullptr) break;
      bell_.sleep(seen);
    }
    delete std::exchange(head_, next);
    if (next->what.kind == op_kind::stop) break;
    dev.wait_for_gate();
    execute(next->what);
    next->what.run.drop();  // what the closure holds dies before "idle" can be seen
    done_.fetch_add(1, std::memory_order_release);
  }
  done_.fetch_add(1, std::memory_order_release);
  dev.home->workers.fetch_sub(1, std::memory_order_release);
}

void stream::execute(op& what) {
  if (what.kind == op_kind::work) dev.count_towards_fault();
  if (what.kind == op_kind::marker || dev.sticky_error() == cudaSuccess) what.run();
}

void order_with_legacy(stream& to) {
  device& owner = to.dev;
  if (to.recording.load(std::memory_order_relaxed) != nullptr) return;
  stream& legacy = *owner.legacy;
  if (&to == &legacy) {
    for (stream* const other : owner.blocking_streams()) {
      if (other->recording.load(std::memory_order_relaxed) != nullptr || other->idle()) continue;
      to.push(op_kind::marker, [before = other->mark_now()] { before->wait(); });
    }
  } else if (to.blocking() && !legacy.idle()) {
    to.push(op_kind::marker, [before = legacy.mark_now()] { before->wait(); });
  }
}

void enqueue(stream& to, op what) {
  if (capture* const into = to.recording.load(std::memory_order_relaxed)) {
    into->record(to, std::move(what));
    return;
  }
  order_with_legacy(to);
  to.push(std::move(what));
}

stream* stream_of(cudaStream_t handle, device& current) {
  if (handle == nullptr || handle == cudaStreamLegacy) return current.legacy;
  if (handle == cudaStreamPerThread) return self().per_thread_stream(current);
  auto* const named = reinterpret_cast<stream*>(handle);
  if (named->magic.load(std::memory_order_relaxed) == live_stream) return named;
  misuse("unknown or destroyed stream %p", static_cast<void*>(handle));
  return nullptr;
}

}  // namespace fake
