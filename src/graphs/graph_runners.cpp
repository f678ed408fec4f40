// SPDX-License-Identifier: Apache-2.0
// The items of a run: those that call nodes, how they share, and what happens when an item ends.
#include <algorithm>
#include <utility>

#include "device/wait_graph.hpp"
#include "graphs/graph_run.hpp"
#include "heddle/device_context.hpp"
#include "work/current.hpp"
#include "work/item.hpp"
#include "work/spin.hpp"
#include "work/ticks.hpp"

namespace heddle::detail {

namespace {

constexpr std::uint64_t longest_turn = 500'000;  // 100 us, or some more; then other items have their turn
constexpr std::uint64_t stuck = 3'000;           // 1 us, or some more: a runner that is in one node so long
constexpr std::uint64_t patience = 75'000;       // 20 us, or some more: what a wake costs
constexpr std::size_t plenty = 32;               // ready nodes that pay being divided, however short they are
constexpr unsigned between_looks = 16;           // nodes, where they are short: a look costs as much as one

}  // namespace

/// What a runner does until it lets other items of its device go on.
struct graph_run::turn {
  std::size_t place;
  ready_nodes& own;
  std::stop_token stop;
  std::uint64_t began = ticks(), looked = began;
  unsigned until_look = 1;
  bool over = false;
  // Whom it watches, to see whether it comes on.
  std::size_t watched = 0;
  std::uint64_t steps = 0, since = 0;

  void look() noexcept {
    const std::uint64_t now = ticks();
    until_look = now - looked > longest_turn / between_looks ? 1 : between_looks;
    looked = now;
    over = now - began > longest_turn;
  }
};

// The work of a runner
// ---------------------------------------------------------------------------------------

void graph_run::work(device_context& context) noexcept {
  const auto place = static_cast<std::size_t>(bound()->index);
  if (!begin(place)) return;
  turn now{place, ready_[place], context.stop_token()};
  if (now.own.size() + ready_.back().size() > 1) call_another();
  for (;;) {
    if ((now.over || !may_run_on(place)) && pass_the_turn(now)) return;
    if (const auto n = now.own.take_newest()) {
      run_from(*n, now);
    } else if (find_work(now)) {
      if (now.own.size() > 1 && wanted_.load(std::memory_order_relaxed) > 0) call_another();
    } else if (leave(now)) {
      return;
    }
  }
}

bool graph_run::begin(std::size_t place) noexcept {
  {
    const std::lock_guard lock(mutex_);
    --called_;
    // Present: this one was started by a wait inside a node, on top of the one that calls the node.
    if (over_ || runners_[place] == runner_state::present) return false;
    if (runners_[place] == runner_state::resting) wanted_.fetch_sub(1, std::memory_order_relaxed);
    runners_[place] = runner_state::present;
    ++present_;
    prepare();
  }
  busy_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Runs a node, then one that could not run before, and so on.
void graph_run::run_from(number n, turn& now) noexcept {
  if (is_item(n) && outcome_.wanted(n)) return start_item(n);
  std::optional<number> next = n;
  while (next) {
    call(*next);
    now.own.count_step();
    next = visit_successors(*next, now.own, true);
    if (--now.until_look > 0) continue;
    now.look();
    now.over = now.over || !may_run_on(now.place);
    if (now.stop.stop_requested()) outcome_.cancel();
    if (now.over && next) return add_ready(*next, now.own);
  }
}

// Waits for nodes that others cannot come to, for about as long as it takes to call a runner again. Others
// are left alone while they come on: each node that changes sides costs as much as many short ones.
bool graph_run::find_work(turn& now) noexcept {
  busy_.fetch_sub(1, std::memory_order_relaxed);
  const spin_permit permit;
  const bool may_spin = permit.granted() && spin_permit::most() > 0;
  std::uint64_t last = ticks();
  bool found = false;
  for (;;) {
    bool some = false;
    found = take_from_others(now, may_spin, some);
    if (found) break;
    const std::uint64_t time = ticks();
    if (some) last = time;
    if (!some && (!may_spin || busy_.load(std::memory_order_relaxed) == 0 || time - last > patience)) break;
    if (time - now.began > longest_turn) {
      now.over = true;
      found = some;
      break;
    }
    for (int k = 0; k < 16; ++k) relax();
  }
  busy_.fetch_add(1, std::memory_order_relaxed);
  return found;
}

bool graph_run::take_from_others(turn& now, bool patient, bool& some) noexcept {
  if (now.own.take_all_of(ready_.back())) return true;
  const std::size_t devices = runners_.size();
  for (std::size_t k = 0; k < devices; ++k) {
    const std::size_t other = (now.watched + k) % devices;
    const std::size_t ready = other == now.place ? 0 : ready_[other].size();
    if (ready == 0) continue;
    some = true;
    const std::uint64_t time = ticks();
    const bool comes_on = other != now.watched || ready_[other].steps() != now.steps;
    if (patient && ready < plenty && (comes_on || time - now.since < stuck)) {
      if (!comes_on) continue;
      now.watched = other;
      now.steps = ready_[other].steps();
      now.since = time;
      return false;
    }
    if (now.own.take_half_of(ready_[other])) return true;
  }
  return false;
}

bool graph_run::may_run_on(std::size_t place) const noexcept { return core_.group.threads[place]->enabled(); }

// The device that is to go on with nodes: this one unless it is disabled.
std::size_t graph_run::goes_on_at(std::size_t place) const noexcept {
  std::size_t at = place;
  while (!may_run_on(at)) {
    at = (at + 1) % runners_.size();
    if (at == place) break;  // others were enabled and disabled meanwhile
  }
  return at;
}

// Goes to the end of the device's queue, or of that of another where this one is disabled.
bool graph_run::pass_the_turn(turn& now) noexcept {
  const std::size_t next = goes_on_at(now.place);
  {
    const std::lock_guard lock(mutex_);
    runners_[now.place] = runner_state::resting;
    wanted_.fetch_add(1, std::memory_order_relaxed);
    --present_;
    const bool is_there = runners_[next] != runner_state::resting;  // and comes to what is left here
    if (!is_there) note_called(next);
    busy_.fetch_sub(1, std::memory_order_relaxed);
    if (is_there) return true;
  }
  if (call_runner(next)) return true;
  busy_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  runners_[now.place] = runner_state::present;
  ++present_;
  return now.over = false;
}

bool graph_run::leave(turn& now) noexcept {
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    runners_[now.place] = runner_state::resting;
    wanted_.fetch_add(1, std::memory_order_seq_cst);  // before the look: who adds nodes looks after that
    if (any_ready()) {
      wanted_.fetch_sub(1, std::memory_order_relaxed);
      runners_[now.place] = runner_state::present;
      return false;
    }
    --present_;
    over = ends_now();
  }
  busy_.fetch_sub(1, std::memory_order_relaxed);
  if (over) finish();
  return true;
}

// Calling runners
// --------------------------------------------------------------------------------------------

void graph_run::call_another() noexcept {
  std::size_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    if (over_ || wanted_.load(std::memory_order_relaxed) <= 0) return;
    for (;; ++place) {
      if (place == runners_.size()) return;
      const auto& device = *core_.group.threads[place];
      // One that has work of its own would come late, and be in the way of what is queued there until then.
      if (runners_[place] == runner_state::resting && device.enabled() && device.queued() == 0) break;
    }
    note_called(place);
  }
  (void)call_runner(place);
}

// Under the mutex.
void graph_run::note_called(std::size_t place) noexcept {
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  runners_[place] = runner_state::called;
  ++called_;
}

// One that is counted as called. False, and it is not, where there is no memory for it.
bool graph_run::call_runner(std::size_t place) noexcept {
  try {
    auto runner = std::make_unique<part>(shared_from_this(), std::nullopt);
    const route there = route::on(core_.devices[place].id).label(label_).host_only();
    submission admitted(core_, there, along{});
    submit_runner(std::move(runner), admitted);
    return true;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    wanted_.fetch_add(1, std::memory_order_relaxed);
    runners_[place] = runner_state::resting;
    --called_;
    return false;
  }
}

void graph_run::submit_runner(std::unique_ptr<part> runner, submission& admitted) {
  auto call = [its = runner.get()](device_context& context) {
    its->began = true;
    its->run->work(context);
  };
  auto* const it = new typed_item<void, decltype(call)>(call);
  runner->handle = future_access::make<void>(*it);
  submit(std::move(runner), admitted);
}

// Hands over the part's item, which is counted already. Throws std::bad_alloc, and has done nothing.
void graph_run::submit(std::unique_ptr<part> each, submission& admitted) {
  item& it = future_access::state(each->handle);
  admitted.prepare_apart(it);
  {
    const std::lock_guard lock(mutex_);
    if (!over_) remember(*each);
  }
  // Before it can run: it may end at once, and what it makes ready likewise, and so on.
  part& handed_over = *each.release();
  const bool ended = !attach(it, handed_over);
  admitted.start_prepared(it);
  if (ended) part_ended(handed_over, -1);  // by its route's token, or deadline
}

// What has ended
// ---------------------------------------------------------------------------------------------

// Under the mutex: whoever waits for the run inside an item may have to run the part. Without memory it will
// not, which only an item that waits on the one device that is to run the part would notice.
void graph_run::remember(part& each) noexcept {
  try {
    parts_.push_back(&each);
  } catch (...) {
    return;
  }
  if (wait_graph::waits_also_for(*end_, future_access::state(each.handle))) {
    each.place = parts_.size() - 1;
  } else {
    parts_.pop_back();
  }
}

void graph_run::forget(part& each) noexcept {
  if (each.place == nowhere) return;
  wait_graph::waits_no_more_for(*end_, each.place);
  parts_.back()->place = each.place;
  parts_[each.place] = parts_.back();
  parts_.pop_back();
  each.place = nowhere;
}

void graph_run::part_ended(continuation& what, int device) noexcept {
  const std::unique_ptr<part> ended(static_cast<part*>(&what));
  graph_run& run = *ended->run;
  item& it = future_access::state(ended->handle);
  it.error_taken = true;
  {
    const std::lock_guard lock(run.mutex_);
    run.forget(*ended);
  }
  if (ended->node) {
    run.item_ended(*ended->node, it.error, device);
  } else if (!ended->began) {
    run.runner_lost(is_cancelled(it) ? nullptr : it.error);
  }
}

// It ended unstarted: by scheduler::cancel, or with its device.
void graph_run::runner_lost(const std::exception_ptr& error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    --called_;
    if (over_) return;
  }
  if (error) outcome_.failed({0, count_}, error);
  outcome_.cancel();
  skip_the_rest();
}

void graph_run::item_ended(number n, const std::exception_ptr& error, int device) noexcept {
  if (error) outcome_.failed({n, std::int64_t{n} + 1}, error);
  (void)visit_successors(n, ready_.back(), false);
  const std::size_t place = goes_on_at(static_cast<std::size_t>(std::max(device, 0)));
  bool over = false, alone = false;
  {
    const std::lock_guard lock(mutex_);
    --items_;
    over = ends_now();
    alone = !over && !over_ && present_ == 0 && called_ == 0 && any_ready();
    if (alone) note_called(place);  // all rest
  }
  if (over) finish();
  if (!alone || call_runner(place)) return;
  outcome_.cancel();
  skip_the_rest();
}

}  // namespace heddle::detail
