// SPDX-License-Identifier: Apache-2.0
#include "graphs/graph_run.hpp"

#include <algorithm>
#include <utility>

#include "device/continuations.hpp"
#include "device/wait_graph.hpp"
#include "work/current.hpp"
#include "work/item.hpp"

namespace heddle::detail {

/// The item of the run's future.
struct graph_run::end_of_run {
  explicit end_of_run(std::shared_ptr<graph_run> of) : run(std::move(of)) {}
  end_of_run(end_of_run&&) noexcept = default;
  ~end_of_run() {
    if (!run) return;
    // The last use of the nodes: called runners that come too late keep the run, but not these.
    const auto nodes = std::move(run->nodes_);
    nodes->running.store(false, std::memory_order_release);
  }
  void operator()() { run->outcome_.finish(*run->core_.group.sink, run->not_done_); }
  std::shared_ptr<graph_run> run;
};

graph_run::part::part(std::shared_ptr<graph_run> of, std::optional<number> n) noexcept
    : run(std::move(of)), node(n) {
  static constexpr continuation_operations ended{&graph_run::part_ended};
  kind = &ended;
}

graph_run::graph_run(scheduler_core& core, std::shared_ptr<graph_nodes> nodes, const graph_options& options)
    : core_(core),
      nodes_(std::move(nodes)),
      count_(static_cast<std::int64_t>(nodes_->size())),
      label_(options.label),
      not_done_(options.not_done),
      stop_(options.stop),
      outcome_("a task_graph", options.stop),
      missing_(nodes_->joins() ? std::make_unique_for_overwrite<number[]>(nodes_->size()) : nullptr),
      ready_(core.devices.size() + 1),
      wanted_(std::min(static_cast<int>(core.devices.size()), std::max(core.cores, 1))),
      runners_(core.devices.size(), runner_state::resting) {
  ready_.back().fill(nodes_->roots());
}

// Begin and end ------------------------------------------------------------------------------------------

future<void> graph_run::start() {
  const route any = route::any().label(label_).host_only();
  submission first(core_, any);
  // Before anything runs: whether all of them can be followed.
  for (const route& each : nodes_->routes()) submission(core_, each, along{});
  const auto self = shared_from_this();
  auto runner = std::make_unique<part>(self, std::nullopt);
  submission last(core_.group.serial, same_device);
  auto* const end = new typed_item<void, end_of_run>(end_of_run(self));
  auto handle = future_access::make<void>(*end);
  try {
    auto& extras = extras_of(*end);
    extras.label = label_;
    extras.cancel = [self] { return self->cancel(); };
    last.prepare_follower(*end);
    end_ = end;
    called_ = 1;
    submit_runner(std::move(runner), first);
  } catch (...) {
    discard(*end);
    throw;
  }
  last.handed_over();
  if (stop_.stop_possible()) on_stop_.emplace(stop_, stopper{this});
  return handle;
}

void graph_run::finish() noexcept {
  const bound_device* const here = bound();
  queue_follower(*end_, here != nullptr && here->group == &core_.group ? here->index : -1);
}

bool graph_run::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return false;
    outcome_.cancel();  // before it can be over
  }
  skip_the_rest();
  return true;
}

// Visits what is ready, and what becomes ready by that, without calling anything.
void graph_run::skip_the_rest() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    ++present_;
    prepare();
  }
  ready_nodes& nobodys = ready_.back();
  for (;;) {
    for (auto& each : ready_) {
      while (const auto n = each.take_newest()) {
        leave_out(*n);
        (void)visit_successors(*n, nobodys, false);
      }
    }
    const std::lock_guard lock(mutex_);
    if (any_ready()) continue;  // by an item that has just ended, and relies on this one
    --present_;
    if (!ends_now()) return;
    break;
  }
  finish();
}

bool graph_run::any_ready() const noexcept {
  return std::any_of(ready_.begin(), ready_.end(), [](const auto& each) { return each.size() > 0; });
}

// Under the mutex: whether it has just come to its end.
bool graph_run::ends_now() noexcept {
  if (over_ || present_ > 0 || items_ > 0 || any_ready()) return false;
  while (!parts_.empty()) forget(*parts_.back());
  return over_ = true;
}

// Nodes --------------------------------------------------------------------------------------------------

// Under the mutex, before the first node is visited: by a thread that visits nodes, since each line of memory
// that changes cores costs as much as several of them.
void graph_run::prepare() noexcept {
  if (prepared_) return;
  prepared_ = true;
  nodes_->link();
  if (!missing_) return;
  for (number n = 0; n < count_; ++n) missing_[n] = (*nodes_)[n].predecessors;
}

bool graph_run::arrived(number n) noexcept {
  if ((*nodes_)[n].predecessors == 1) return true;
  return std::atomic_ref(missing_[n]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void graph_run::leave_out(number n) noexcept { outcome_.left_out({n, std::int64_t{n} + 1}); }

inline void graph_run::call(number n) noexcept {
  if (!outcome_.wanted(n)) return leave_out(n);
  const auto& node = (*nodes_)[n];
  try {
    node.operations->call(node.callable, nullptr);
  } catch (...) {
    outcome_.failed({n, std::int64_t{n} + 1}, std::current_exception());
  }
}

void graph_run::add_ready(number n, ready_nodes& to) noexcept {
  try {
    to.push(n);
  } catch (...) {  // no memory: neither it nor what follows it is visited
    outcome_.failed({n, count_}, std::current_exception());
  }
}

// Those that can run now and are no items go to `own`, but for the first one where the caller takes it.
std::optional<graph_run::number> graph_run::visit_successors(number n, ready_nodes& own,
                                                             bool takes_one) noexcept {
  std::optional<number> taken;
  bool added = false;
  for (const number each : nodes_->successors(n)) {
    if (!arrived(each)) continue;
    if (is_item(each) && outcome_.wanted(each)) {
      start_item(each);
    } else if (takes_one && !taken) {
      taken = each;
    } else {
      add_ready(each, own);
      added = true;
    }
  }
  if (added && wanted_.load(std::memory_order_seq_cst) > 0) call_another();
  return taken;
}

void graph_run::count_item(int by) noexcept {
  const std::lock_guard lock(mutex_);
  items_ += by;
}

void graph_run::start_item(number n) noexcept {
  try {
    auto each = std::make_unique<part>(shared_from_this(), n);
    submission admitted(core_, nodes_->route_of(n), along{});
    auto call = [run = this, n](device_context& context) {
      if (!run->outcome_.wanted(n)) return run->leave_out(n);
      const auto& node = (*run->nodes_)[n];
      node.operations->call(node.callable, &context);
    };
    auto* const it = new typed_item<void, decltype(call)>(call);
    each->handle = future_access::make<void>(*it);
    count_item(1);
    try {
      submit(std::move(each), admitted);
    } catch (...) {
      count_item(-1);
      throw;
    }
  } catch (...) {
    outcome_.failed({n, std::int64_t{n} + 1}, std::current_exception());
    add_ready(n, ready_.back());  // it is not wanted any more, so it is passed over when it is visited
  }
}

}  // namespace heddle::detail
