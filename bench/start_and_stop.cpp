// SPDX-License-Identifier: Apache-2.0
// How long does a scheduler take to start and to end?
//
// Beside threads that do nothing, which a scheduler of so many devices needs as well: 2, 8 and 64 of them.
// The goal: at most 1.1 times the bare threads. Each thread counts itself, so that one which never ran shows.
// oneTBB is not here: its threads start when there is work for them, and stay for the whole process.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/python_pool.hpp"
#include "rivals/taskflow.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "How long does a scheduler take to start and to end?";

void compare(bench::session& session, const bench::python_pool& python, int n) {
  std::atomic<std::int64_t> started{0};
  std::int64_t asked = 0;
  bench::contest all(session, std::to_string(n) + " devices", 4);
  const auto add = [&](const char* name, bench::role is, auto start_and_stop) {
    all.add({.name = name, .is = is, .run = [&, start_and_stop, n](std::int64_t calls) {
               for (std::int64_t k = 0; k < calls; ++k) start_and_stop();
               asked += n * calls;
             }});
  };
  add("bare threads", bench::role::limit, [&started, n] {
    std::vector<std::jthread> threads;
    for (int k = 0; k < n; ++k) threads.emplace_back([&started] { ++started; });
  });
  add("heddle: a scheduler", bench::role::heddle, [&started, n] {
    heddle::scheduler_options options;
    options.use = heddle::backend::host;
    options.host.devices = n;
    options.on_start = [&started](heddle::device_context&) { ++started; };
    const heddle::scheduler sched(options);
  });
  add("a queue with a condition", bench::role::rival, [&started, n] {
    const bench::condvar_queue queue(n);
    started += n;  // its end does not wait for a thread that has not begun
  });
#if HEDDLE_BENCH_HAS_TASKFLOW
  add("Taskflow: an executor", bench::role::rival, [&started, n] {
    const tf::Executor executor(static_cast<std::size_t>(n));
    started += n;
  });
#endif
  if (python.here()) {
    all.add(
        {.name = "Python's Pool",
         .measure = [&, n](std::int64_t calls) { return python.run("start " + std::to_string(n), calls, n); },
         .elsewhere = true});
  }
  all.check([&] { return started.exchange(0) == std::exchange(asked, 0); });
  all.add_goal({.of = "heddle: a scheduler", .to = {"bare threads"}, .at_most = 1.1});
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  const bench::python_pool python(session);
  for (const int n : {2, 8, 64}) compare(session, python, n);
  return session.finish();
}
