// SPDX-License-Identifier: Apache-2.0
// How long do the results of many small calls take, in order?
//
// Pool(2).starmap(f, pairs) and what stands for it, on two workers: 10 calls, and 10,000. Python's Pool and
// heddle both take ranges of calls unless they are told otherwise. The goals:
//   10 calls      6 us, and a 30th of Python's Pool
//   10,000 calls  100 us, and a 15th of Python's Pool
// An item for each call has no goal: it shows what an item costs.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstdint>
#include <future>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/python_pool.hpp"
#include "rivals/taskflow.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "How long do the results of many small calls take, in order?";

using pairs = std::vector<std::tuple<int, int>>;
using results = std::vector<int>;

int f(int a, int b) { return 3 * a + b; }

pairs payload(int n) {
  pairs all;
  for (int k = 0; k < n; ++k) all.emplace_back(k, k + 1);
  return all;
}

results by_plain_loop(const pairs& of) {
  results all(of.size());
  for (std::size_t k = 0; k < of.size(); ++k) all[k] = f(std::get<0>(of[k]), std::get<1>(of[k]));
  return all;
}

/// A future for each, got in order.
template <class Submit>
results by_futures(const pairs& of, Submit submit) {
  std::vector<decltype(submit([] { return int{}; }))> futures;
  futures.reserve(of.size());
  for (const auto& [a, b] : of) futures.push_back(submit([a = a, b = b] { return f(a, b); }));
  results all;
  all.reserve(of.size());
  for (auto& each : futures) all.push_back(each.get());
  return all;
}

results by_tbb(const pairs& of) {
  results all(of.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, of.size()), [&](const auto& part) {
    for (std::size_t k = part.begin(); k < part.end(); ++k)
      all[k] = f(std::get<0>(of[k]), std::get<1>(of[k]));
  });
  return all;
}

void compare(bench::session& session, const bench::python_pool& python, int n) {
  const auto sched = bench::host_devices(2);
  bench::condvar_queue queue(2);
#if HEDDLE_BENCH_HAS_TASKFLOW
  tf::Executor taskflow(2);
#endif
  const pairs of = payload(n);
  const results right = by_plain_loop(of);
  results found;
  bench::contest all(session, std::to_string(n) + " calls of starmap", 4);
  const auto add = [&](const char* name, bench::role is, auto map) {
    all.add({.name = name, .is = is, .run = [&, map](std::int64_t calls) {
               for (std::int64_t k = 0; k < calls; ++k) found = map();
             }});
  };
  heddle::map_options one_each;
  one_each.chunk = 1;
  add("a plain loop", bench::role::limit, [&] { return by_plain_loop(of); });
  add("heddle: starmap, in ranges", bench::role::heddle, [&] { return sched->starmap(f, of); });
  add("heddle: starmap, an item each", bench::role::heddle, [&] { return sched->starmap(f, of, one_each); });
  add("a queue with a condition", bench::role::rival,
      [&] { return by_futures(of, [&](auto call) { return queue.submit(call); }); });
  add("oneTBB: parallel_for", bench::role::rival, [&] { return by_tbb(of); });
#if HEDDLE_BENCH_HAS_TASKFLOW
  add("Taskflow: async", bench::role::rival,
      [&] { return by_futures(of, [&](auto call) { return taskflow.async(call); }); });
#endif
  if (n <= 100) {  // a thread for each
    add("std::async", bench::role::rival,
        [&] { return by_futures(of, [](auto call) { return std::async(std::launch::async, call); }); });
  }
  if (python.here()) {
    all.add({.name = "Python's Pool(2).starmap",
             .measure =
                 [&, n](std::int64_t calls) {
                   found = right;  // its own sum is looked at instead
                   const std::int64_t m = n;
                   return python.run("starmap " + std::to_string(n), calls,
                                     3 * m * (m - 1) / 2 + m * (m + 1) / 2);
                 },
             .elsewhere = true});
  }
  all.check([&] { return std::exchange(found, {}) == right; });
  const bool few = n <= 100;
  all.add_goal({.of = "heddle: starmap, in ranges", .at_most = few ? 6e-6 : 100e-6});
  all.add_goal({.of = "heddle: starmap, in ranges",
                .to = {"Python's Pool(2).starmap"},
                .at_most = few ? 1 / 30. : 1 / 15.});
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  const bench::python_pool python(session);
  compare(session, python, 10);
  compare(session, python, 10'000);
  return session.finish();
}
