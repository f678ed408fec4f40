// SPDX-License-Identifier: Apache-2.0
// oneTBB's nearest thing to "run this on one of those threads and tell me when it is done".
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstddef>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace bench {

/// An arena whose tasks run on threads of TBB's, never on those of its user.
class tbb_items {
 public:
  explicit tbb_items(int threads)
      : threads_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
        arena_(threads, 0) {}

  template <class F>
  void push(F f) {
    arena_.enqueue(group_.defer(std::move(f)));
  }
  template <class F>
  auto submit(F f) {
    using result = std::invoke_result_t<const F&>;
    const auto promise = std::make_shared<std::promise<result>>();
    auto future = promise->get_future();
    arena_.enqueue([promise, f = std::move(f)] {
      if constexpr (std::is_void_v<result>) {
        f();
        promise->set_value();
      } else {
        promise->set_value(f());
      }
    });
    return future;
  }
  void drain() { group_.wait(); }

 private:
  tbb::global_control threads_;  // else it has one thread fewer than the machine has cores
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace bench
