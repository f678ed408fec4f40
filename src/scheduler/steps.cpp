// SPDX-License-Identifier: Apache-2.0
#include "scheduler/steps.hpp"

#include <utility>

#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

/// Belongs to a part that was handed over. Says, once, that it has put all its work on the stream, or never
/// will.
class step_order::issue_token {
 public:
  explicit issue_token(std::function<void(std::exception_ptr)> unrun) : unrun_(std::move(unrun)) {}
  issue_token(const issue_token&) = delete;
  issue_token& operator=(const issue_token&) = delete;
  ~issue_token() {
    if (order_ == nullptr) return;
    if (unrun_) {
      unrun_(std::make_exception_ptr(cancelled(
          "a step of the work on an array was cancelled before it started, so that the array's elements are "
          "undefined: scatter or fill it anew")));
    }
    order_->part_issued();
  }
  void handed_over(step_order& order) noexcept { order_ = &order; }
  void issued() noexcept { std::exchange(order_, nullptr)->part_issued(); }

 private:
  step_order* order_ = nullptr;
  std::function<void(std::exception_ptr)> unrun_;
};

std::vector<future<void>> step_order::add(step added) {
  std::vector<future<void>> futures;
  waiting_step next{{}, added.crossing};
  new_items items;
  for (auto& part : added.parts) {
    const auto where = route::on(core_.devices[part.place].id).stream(0).label(added.label);
    // One that waits for room while it holds some may wait for another one that does the same.
    auto admitted = items.rest().empty() ? std::make_unique<submission>(core_, where)
                                         : std::make_unique<submission>(core_, where, along{});
    auto token = std::make_shared<issue_token>(std::move(part.unrun));
    auto call = [this, place = part.place, crossing = added.crossing, run = std::move(part.run),
                 token](device_context& context) {
      struct at_end {
        issue_token& token;
        ~at_end() { token.issued(); }
      } const end{*token};
      run_part(place, crossing, run, context);
    };
    auto* const it = new typed_item<void, decltype(call)>(std::move(call));
    futures.push_back(future_access::make<void>(*it));
    admitted->prepare_apart(*it);
    it->is_step = true;
    items.add(*it);
    next.parts.push_back({std::move(admitted), it, std::move(token)});
  }
  const std::lock_guard lock(mutex_);
  if (last_.empty()) {
    last_.resize(core_.devices.size());
    before_ = after_crossing_ = last_;
    must_wait_.assign(core_.devices.size(), 0);
  }
  if (waiting_.empty() && may_go(next.crossing)) {
    release(next);
  } else {
    waiting_.push_back(std::move(next));
  }
  (void)items.hand_over(items.rest().size());
  return futures;
}

bool step_order::may_go(bool crossing) const noexcept { return !crossing_ && (!crossing || unissued_ == 0); }

void step_order::release(waiting_step& next) {
  if (next.parts.empty()) return;
  unissued_ += next.parts.size();
  crossing_ = next.crossing;
  if (crossing_) before_ = last_;
  for (auto& part : next.parts) {
    part.token->handed_over(*this);
    part.token.reset();  // the item's own
    part.admitted->start_prepared(*part.it);
  }
}

void step_order::part_issued() noexcept {
  const std::lock_guard lock(mutex_);
  if (--unissued_ > 0) return;
  if (std::exchange(crossing_, false)) {
    after_crossing_ = last_;
    must_wait_.assign(must_wait_.size(), 1);
  }
  while (!waiting_.empty() && may_go(waiting_.front().crossing)) {
    waiting_step next = std::move(waiting_.front());
    waiting_.pop_front();
    release(next);
  }
}

void step_order::run_part(std::size_t place, bool crossing, const std::function<void(device_context&)>& run,
                          device_context& context) {
  std::vector<event> before;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(must_wait_[place], 0)) before = after_crossing_;
    if (crossing) before.insert(before.end(), before_.begin(), before_.end());
  }
  for (const event& each : before) context.wait(each);
  std::exception_ptr error;
  try {
    run(context);
  } catch (...) {
    error = std::current_exception();
  }
  const event end = context.record();
  {
    const std::lock_guard lock(mutex_);
    last_[place] = end;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace heddle::detail
