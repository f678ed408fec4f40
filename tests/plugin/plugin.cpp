// SPDX-License-Identifier: Apache-2.0
// What an application loads at run time: heddle inside, and nothing of it outside.
#include <tbb/parallel_for.h>

#include <atomic>
#include <vector>

#include "heddle/heddle.hpp"

/// Starts a scheduler, runs loops on all of its devices, ends it. 0 if every result was right.
extern "C" int run_plugin(int devices) {
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = devices;
  options.arena_threads = 4;
  heddle::scheduler sched(options);
  std::atomic<int> bodies{0};
  const std::vector<int> input(32, 2);
  int sum = 0;
  const auto loop = [&](int x) {
    tbb::parallel_for(0, 50, [&](int) { bodies.fetch_add(1); });
    return x;
  };
  for (const int each : sched.map(loop, input, {.chunk = 1})) sum += each;
  auto last = sched.submit([&] { bodies.fetch_add(1); }, heddle::route::any().in_arena());
  last.get();
  return sum == 64 && bodies.load() == 32 * 50 + 1 ? 0 : 1;
}
