// SPDX-License-Identifier: Apache-2.0
// How long is one empty item there and back?
//
// One thread hands it to another one and waits for it: hot, with a worker that has gone to sleep, after the
// caller itself slept, and while other processes want the same cores. The goals are these:
//   hot           at most 2.5 times two threads that spin, and a hundredth of a queue with a condition
//   worker parked half of every rival that sleeps too
//   after a sleep no slower than a queue with a condition; CPU time at most 1.15 times its
//   beside load   on average a fifth of a queue with a condition
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/python_pool.hpp"
#include "rivals/starpu.hpp"
#include "rivals/taskflow.hpp"
#include "rivals/tbb_items.hpp"
#include "rivals/thread_pair.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "How long is one empty item there and back?";

const std::string us = "heddle: submit(f).get()", naive = "a queue with a condition",
                  spin = "two threads, spinning", futex = "two threads, sleeping";

/// All who take part, each with one worker.
class field {
 public:
  explicit field(bench::session& session) : python_(session) {}

  /// `awake`: a worker that spins is the limit, and not one that sleeps.
  void enter(bench::contest& all, bool awake) {
    if (awake) all.add(pair(spin, spinning_));
    all.add(pair(futex, sleeping_));
    all.add(calls(us, bench::role::heddle, [this](auto f) { return heddle_->submit(f); }));
    all.add(calls(naive, bench::role::rival, [this](auto f) { return queue_.submit(f); }));
    all.add(calls("oneTBB: enqueue, std::promise", bench::role::rival,
                  [this](auto f) { return tbb_.submit(f); }));
    all.add(
        calls("std::async", bench::role::rival, [](auto f) { return std::async(std::launch::async, f); }));
#if HEDDLE_BENCH_HAS_TASKFLOW
    all.add(calls("Taskflow: async", bench::role::rival, [this](auto f) { return taskflow_.async(f); }));
#endif
#if HEDDLE_BENCH_HAS_STARPU
    all.add({.name = "StarPU, spins between items",
             .run =
                 [this](std::int64_t n) {
                   static std::int64_t done;  // a task has no result of its own
                   done = 0;
                   void (*f)() = [] { ++done; };
                   for (std::int64_t k = 0; k < n; ++k) starpu_.push(&f, true);
                   right_ = done == n;
                 },
             .prepare = [this] { starpu_.start(); },
             .finish = [this] { starpu_.stop(); }});
#endif
    if (python_.here()) {
      all.add({.name = "Python's Pool(2).apply",
               .measure = [this](std::int64_t n) { return python_.run("apply", n, 3 * n * (n - 1) / 2 + n); },
               .elsewhere = true});
    }
    all.check([this] { return right_; });
  }

 private:
  template <class Pair>
  bench::entry pair(const std::string& name, Pair& threads) {
    return {.name = name,
            .is = bench::role::limit,
            .run =
                [&threads](std::int64_t n) {
                  for (std::int64_t k = 0; k < n; ++k) threads.round_trip();
                },
            .prepare = [&threads] { threads.start(); },
            .finish = [&threads] { threads.stop(); }};
  }
  template <class Submit>
  bench::entry calls(const std::string& name, bench::role is, Submit submit) {
    return {.name = name, .is = is, .run = [this, submit](std::int64_t n) {
              std::int64_t sum = 0;
              for (std::int64_t k = 0; k < n; ++k) sum += submit([k] { return k; }).get();
              right_ = sum == n * (n - 1) / 2;
            }};
  }

  bool right_ = true;
  bench::thread_pair<bench::spinning> spinning_;
  bench::thread_pair<bench::sleeping> sleeping_;
  std::unique_ptr<heddle::scheduler> heddle_ = bench::host_devices(1);
  bench::condvar_queue queue_{1};
  bench::tbb_items tbb_{1};
#if HEDDLE_BENCH_HAS_TASKFLOW
  tf::Executor taskflow_{1};
#endif
#if HEDDLE_BENCH_HAS_STARPU
  bench::starpu starpu_{1};
#endif
  bench::python_pool python_;
};

/// The caller stays awake, for longer than any worker waits for work.
void stay_awake() {
  for (const auto began = bench::clock::now(); bench::seconds_since(began) < 500e-6;) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (bench::burned(argc, argv)) return 0;
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  bench::look_for_starpu(session);
  field everybody(session);

  bench::contest hot(session, "hot: one behind the other", 4);
  everybody.enter(hot, true);
  hot.add_goal({.of = us, .to = {spin}, .at_most = 2.5});
  hot.add_goal({.of = us, .to = {naive}, .at_most = 0.01});
  hot.run();

  bench::contest parked(session, "worker parked: the caller computes for 500 us before each", 4);
  everybody.enter(parked, false);
  parked.before_each_call(stay_awake);
  parked.add_goal({.of = us,
                   .to = {naive, "oneTBB: enqueue, std::promise", "std::async", "Taskflow: async"},
                   .at_most = 0.5});
  parked.run();

  bench::contest slept(session, "after a sleep: the caller sleeps for 1 ms before each", 4);
  everybody.enter(slept, false);
  slept.before_each_call([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  slept.add_goal({.of = us, .to = {naive}, .at_most = 1});
  slept.add_goal({.of = us, .to = {naive}, .at_most = 1.15, .what = bench::measure::cpu});
  slept.run();

  const bench::busy_process one, two;
  bench::contest loaded(session, "beside 2 busy processes: one behind the other", 8);
  everybody.enter(loaded, false);
  loaded.turn(session.quick() ? 10e-3 : 50e-3);
  loaded.not_foreign([&] { return one.cpu() + two.cpu(); });
  loaded.add_goal({.of = us, .to = {naive}, .at_most = 0.2});
  loaded.run();
  return session.finish();
}
