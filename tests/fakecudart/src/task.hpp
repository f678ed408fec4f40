// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace fake {

/// A callable that is moved from the host to the stream. Not std::function: its copies would make closures
/// share their arguments, and the count of a shared_ptr orders the host and the stream in the eyes of the
/// sanitizer.
class task {
 public:
  task() = default;
  template <class F>
  explicit task(F body) : body_(std::make_unique<model<F>>(std::move(body))) {}

  /// May run many times: a graph replays its tasks.
  void operator()() {
    if (body_) body_->run();
  }
  void drop() { body_.reset(); }

 private:
  struct concept_type {
    virtual ~concept_type() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct model final : concept_type {
    explicit model(F given) : body(std::move(given)) {}
    void run() override { body(); }
    F body;
  };
  std::unique_ptr<concept_type> body_;
};

/// Work is skipped on a device that failed; markers run all the same.
enum class op_kind { work, marker, stop };

struct op {
  task run;
  op_kind kind = op_kind::marker;
};

}  // namespace fake
