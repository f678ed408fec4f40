// SPDX-License-Identifier: Apache-2.0
// What everybody writes first: threads that take std::functions out of a queue with a mutex and a condition.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

class condvar_queue {
 public:
  explicit condvar_queue(int threads) {
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this, k] { serve(k); });
  }
  ~condvar_queue() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    pushed_.notify_all();
    for (auto& each : threads_) each.join();
  }

  void push(std::function<void()> f) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push(std::move(f));
    }
    pushed_.notify_one();
  }
  template <class F>
  void push_all(std::vector<F> batch) {
    {
      const std::lock_guard lock(mutex_);
      for (auto& each : batch) queue_.push(std::move(each));
    }
    pushed_.notify_all();
  }
  template <class F>
  auto submit(F f) {
    const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<F&>()>>(std::move(f));
    auto result = task->get_future();
    push([task] { (*task)(); });
    return result;
  }
  /// Inside an item: which thread it is, from 0.
  static int this_worker() { return this_worker_; }
  /// Until nothing is queued or runs.
  void drain() {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [this] { return queue_.empty() && running_ == 0; });
  }

 private:
  void serve(int worker) {
    this_worker_ = worker;
    std::unique_lock lock(mutex_);
    for (;;) {
      pushed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto f = std::move(queue_.front());
      queue_.pop();
      ++running_;
      lock.unlock();
      f();
      f = nullptr;
      lock.lock();
      if (--running_ == 0 && queue_.empty()) drained_.notify_all();
    }
  }

  static inline thread_local int this_worker_ = -1;
  std::mutex mutex_;
  std::condition_variable pushed_, drained_;
  std::queue<std::function<void()>> queue_;  // this and the next two are guarded by mutex_
  int running_ = 0;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bench
