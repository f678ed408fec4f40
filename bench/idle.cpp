// SPDX-License-Identifier: Apache-2.0
// What does a scheduler of 8 devices cost while nobody uses it, and when it is needed again?
//
// CPU time in percent of one core, from 50 ms after the last item on; the goal is 2 %. Then one item after
// 10 ms of idleness, of which the CPU time counts as well: all threads that it wakes are in it.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/starpu.hpp"
#include "rivals/taskflow.hpp"
#include "rivals/tbb_items.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "What does a scheduler of 8 devices cost while nobody uses it?";
constexpr int devices = 8;

using std::chrono::milliseconds;

/// Exists from `begin` to `end`, since the others have to be away while one of them is measured.
template <class Pool>
struct sometimes {
  std::unique_ptr<Pool> pool;
  void begin() {
    if constexpr (std::is_same_v<Pool, heddle::scheduler>) {
      pool = bench::host_devices(devices);
    } else {
      pool = std::make_unique<Pool>(devices);
    }
    use();
  }
  void use() {
    for (int k = 0; k < 100 * devices; ++k) wake();
  }
  int wake() {
    return pool->submit([] { return 1; }).get();
  }
  void end() { pool.reset(); }
};

bench::taken percent_of_core(double seconds) {
  std::this_thread::sleep_for(milliseconds(50));
  const double cpu = bench::own_cpu();
  const auto began = bench::clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double used = bench::own_cpu() - cpu;
  return {.figure = 100 * used / bench::seconds_since(began)};
}

template <class Pool>
void add(bench::contest& idle, bench::contest& woken, bool& right, const char* name, bench::role is,
         double seconds) {
  const auto pool = std::make_shared<sometimes<Pool>>();
  const bench::entry both{
      .name = name, .is = is, .prepare = [pool] { pool->begin(); }, .finish = [pool] { pool->end(); }};
  bench::entry e = both;
  e.measure = [seconds](std::int64_t) { return percent_of_core(seconds); };
  e.warm = false;
  idle.add(e);
  e = both;
  e.run = [pool, &right](std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) right = pool->wake() == 1;
  };
  woken.add(e);
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  bench::look_for_starpu(session);
  const double seconds = session.quick() ? 0.1 : 0.5;
  bool right = true;
  bench::contest idle(session, "at rest, with " + std::to_string(devices) + " devices", 1);
  bench::contest woken(session, "one item after 10 ms of idleness, " + std::to_string(devices) + " devices",
                       2);

  add<heddle::scheduler>(idle, woken, right, "heddle", bench::role::heddle, seconds);
  add<bench::condvar_queue>(idle, woken, right, "a queue with a condition", bench::role::rival, seconds);
  add<bench::tbb_items>(idle, woken, right, "oneTBB: enqueue, std::promise", bench::role::rival, seconds);
#if HEDDLE_BENCH_HAS_TASKFLOW
  struct taskflow {
    explicit taskflow(int n) : executor(static_cast<std::size_t>(n)) {}
    auto submit(int (*f)()) { return executor.async(f); }
    tf::Executor executor;
  };
  add<taskflow>(idle, woken, right, "Taskflow: async", bench::role::rival, seconds);
#endif
#if HEDDLE_BENCH_HAS_STARPU
  bench::starpu starpu(2);
  idle.add({.name = "StarPU, 2 workers",
            .measure = [&](std::int64_t) { return percent_of_core(seconds); },
            .prepare = [&] { starpu.start(); },
            .finish = [&] { starpu.stop(); },
            .warm = false});
#endif

  idle.show_in({"% of a core", 1});
  idle.add_goal({.of = "heddle", .at_most = 2});
  idle.run();
  woken.before_each_call([] { std::this_thread::sleep_for(milliseconds(10)); });
  woken.check([&] { return right; });
  woken.run();
  return session.finish();
}
