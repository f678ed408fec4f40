// SPDX-License-Identifier: Apache-2.0
#include "interleave/explorer.hpp"

#include <ucontext.h>

#include <memory>
#include <sstream>
#include <utility>

namespace heddle::interleave {

namespace {

// Depth first over all decisions: a run repeats the decisions of the last one up to the newest that has
// something left to try.
class decisions {
 public:
  void restart() { at_ = 0; }
  /// One of `count`.
  std::size_t next(std::size_t count) {
    if (count == 1) return 0;
    if (at_ == path_.size()) path_.push_back({0, count});
    return path_[at_++].taken;
  }
  /// False if everything has been tried.
  bool advance() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct decision {
    std::size_t taken, count;
  };
  std::vector<decision> path_;
  std::size_t at_ = 0;
};

enum class state { ready, asleep, asleep_with_limit, ended };

struct logical_thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_size);
  state now = state::ended;
  const void* sleeps_on = nullptr;
  bool woken = false;
  static constexpr std::size_t stack_size = std::size_t{64} << 10;
};

constexpr std::size_t nobody = ~std::size_t{0};
constexpr std::size_t most_steps = 10'000;  // of a run: one that takes more goes round in circles

class explorer {
 public:
  explorer(int preemptions, const std::function<program()>& make) : preemptions_(preemptions), make_(make) {}

  findings run();

  void come_to_step();
  bool sleep_on(const void* word, bool has_limit);
  void wake_all(const void* word);
  bool may_happen();
  void fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  std::size_t current = nobody;
  std::vector<step> steps;

 private:
  static void enter();  // the first function on the stack of a logical thread
  void run_once();
  std::size_t choose();
  void resume(std::size_t thread);
  void leave() { ::swapcontext(&threads_[current].context, &scheduler_); }
  std::string describe() const;

  const int preemptions_;
  const std::function<program()>& make_;
  program program_;
  std::vector<logical_thread> threads_;
  ucontext_t scheduler_;
  decisions decisions_;
  std::vector<std::size_t> candidates_;  // kept for its memory
  std::size_t chosen_ = nobody;          // who comes next
  bool starting_ = false;  // each thread goes to its first step, in order: nothing is shared there
  int left_ = 0;           // preemptions
  std::string failure_;
};

explorer* running = nullptr;

findings explorer::run() {
  findings all;
  do {
    decisions_.restart();
    run_once();
    ++all.interleavings;
  } while (failure_.empty() && decisions_.advance());
  if (!failure_.empty()) all.failure = failure_ + describe();
  return all;
}

void explorer::run_once() {
  current = nobody;
  program_ = make_();
  steps.clear();
  left_ = preemptions_;
  if (threads_.empty()) threads_ = std::vector<logical_thread>(program_.bodies.size());
  starting_ = true;
  for (std::size_t k = 0; k < threads_.size(); ++k) {
    auto& thread = threads_[k];
    thread.now = state::ready;
    ::getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = logical_thread::stack_size;
    thread.context.uc_link = &scheduler_;
    ::makecontext(&thread.context, &explorer::enter, 0);
    resume(k);
  }
  starting_ = false;
  current = nobody;
  for (chosen_ = choose(); chosen_ != nobody && steps.size() < most_steps;) {
    const std::size_t next = std::exchange(chosen_, nobody);
    resume(next);
    if (chosen_ == nobody) chosen_ = choose();  // it sleeps or has ended
  }
  if (steps.size() >= most_steps) return fail("this does not end");
  for (const auto& thread : threads_) {
    if (thread.now != state::ended) return fail("all that have not ended are asleep");
  }
  current = nobody;
  program_.at_end();
}

void explorer::enter() {
  running->program_.bodies[running->current]();
  running->threads_[running->current].now = state::ended;
}

void explorer::resume(std::size_t thread) {
  current = thread;
  ::swapcontext(&scheduler_, &threads_[thread].context);
}

// Who takes the next step: the current thread if it can, or at the price of a preemption another one; if it
// cannot, any that can. A sleeper comes at that price before it is woken. With a limit it comes for nothing
// once nobody else can do anything: time goes by.
std::size_t explorer::choose() {
  candidates_.clear();
  const bool goes_on = current != nobody && threads_[current].now == state::ready;
  if (goes_on) candidates_.push_back(current);
  for (std::size_t k = 0; k < threads_.size(); ++k) {
    if (k != current && threads_[k].now == state::ready && (!goes_on || left_ > 0)) candidates_.push_back(k);
  }
  const std::size_t woken = candidates_.size();
  const auto add_sleepers = [&](auto may_wake) {
    for (std::size_t k = 0; k < threads_.size(); ++k) {
      if (may_wake(threads_[k].now)) candidates_.push_back(k);
    }
  };
  if (woken == 0) {
    add_sleepers([](state s) { return s == state::asleep_with_limit; });
    if (candidates_.empty()) return nobody;
  } else if (left_ > 0) {
    add_sleepers([](state s) { return s == state::asleep || s == state::asleep_with_limit; });
  }
  const std::size_t taken = decisions_.next(candidates_.size());
  const std::size_t next = candidates_[taken];
  if ((goes_on && next != current) || (woken != 0 && taken >= woken)) --left_;
  threads_[next].now = state::ready;
  return next;
}

void explorer::come_to_step() {
  if (current == nobody) return;  // make, or at_end
  if (!starting_) {
    const std::size_t next = steps.size() < most_steps ? choose() : nobody;
    if (next == current) return;
    chosen_ = next;
  }
  leave();
}

bool explorer::sleep_on(const void* word, bool has_limit) {
  auto& self = threads_[current];
  self.now = has_limit ? state::asleep_with_limit : state::asleep;
  self.sleeps_on = word;
  self.woken = false;
  leave();
  return self.woken;
}

void explorer::wake_all(const void* word) {
  for (auto& thread : threads_) {
    if ((thread.now != state::asleep && thread.now != state::asleep_with_limit) || thread.sleeps_on != word)
      continue;
    thread.now = state::ready;
    thread.woken = true;
  }
}

bool explorer::may_happen() {
  if (current == nobody || left_ == 0 || decisions_.next(2) == 0) return false;
  --left_;
  return true;
}

std::string explorer::describe() const {
  std::ostringstream text;
  for (const auto& each : steps) {
    text << "\n  thread " << each.thread << ": " << each.what << ' ' << each.word << ", " << std::hex
         << each.before << " -> " << each.after << std::dec;
  }
  return text.str();
}

}  // namespace

findings explore(int preemptions, const std::function<program()>& make) {
  explorer all(preemptions, make);
  running = &all;
  findings found = all.run();
  running = nullptr;
  return found;
}

void come_to_step() { running->come_to_step(); }
void note(const char* what, const void* word, std::uint64_t before, std::uint64_t after) {
  running->steps.push_back({running->current, what, word, before, after});
}
bool sleep_on(const void* word, bool has_limit) { return running->sleep_on(word, has_limit); }
void wake_all(const void* word) { running->wake_all(word); }
bool may_happen() { return running->may_happen(); }
void fail(const std::string& why) { running->fail(why); }
std::size_t this_thread() { return running->current; }
const std::vector<step>& steps() { return running->steps; }

}  // namespace heddle::interleave
