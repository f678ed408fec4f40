// SPDX-License-Identifier: Apache-2.0
// What does an empty item cost, when there are many?
//
// Plain, with a result that somebody waits for, and handed over as a batch. An item counts itself, so that a
// lost one shows. The goals:
//   plain          at most 1/1.5 of the best rival, and 0.08 us of CPU time
//   with a result  at most 1/3 of the best rival
//   batch          at most 1/1.5 of the best rival
// The limit is a ring between two threads that spin. std::async is not here: it starts a thread for each item
// (see round_trip).
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/ring.hpp"
#include "rivals/starpu.hpp"
#include "rivals/taskflow.hpp"
#include "rivals/tbb_items.hpp"
#include "rounds.hpp"
#include "tally.hpp"

namespace {

constexpr const char* question = "What does an empty item cost, when there are many?";

constexpr std::int64_t window = 4096;
bench::tally counted;
const auto item = [] { counted.add(1); };

/// All who take part, each with so many workers.
struct field {
  explicit field(int devices)
      : heddle(bench::host_devices(devices)),
        queue(devices),
        tbb(devices)
#if HEDDLE_BENCH_HAS_TASKFLOW
        ,
        taskflow(static_cast<std::size_t>(devices))
#endif
#if HEDDLE_BENCH_HAS_STARPU
        ,
        starpu(devices)
#endif
  {
  }

  std::unique_ptr<heddle::scheduler> heddle;
  bench::condvar_queue queue;
  bench::tbb_items tbb;
#if HEDDLE_BENCH_HAS_TASKFLOW
  tf::Executor taskflow;
#endif
#if HEDDLE_BENCH_HAS_STARPU
  bench::starpu starpu;
#endif
};

/// So many calls of `push` in all, by so many threads; the caller is the only one, or waits for them.
template <class Push>
void produce(int producers, std::int64_t n, const Push& push) {
  const auto part = [&](int k) {
    for (std::int64_t i = n * k / producers; i < n * (k + 1) / producers; ++i) push();
  };
  if (producers == 1) return part(0);
  std::vector<std::jthread> threads;
  for (int k = 0; k < producers; ++k) threads.emplace_back(part, k);
}

std::string people(int producers, int devices) {
  return std::to_string(producers) + (producers == 1 ? " producer, " : " producers, ") +
         std::to_string(devices) + (devices == 1 ? " device" : " devices");
}

/// Of an item each.
void in_nanoseconds(bench::contest& all) {
  all.show_in({"ns", 1e9});
  all.turn(10e-3);
}

void plain(bench::session& session, int producers, int devices) {
  field f(devices);
  bench::contest all(session, "plain: " + people(producers, devices), 4);
  std::int64_t asked = 0;
  const auto add = [&](const char* name, bench::role is, auto push, auto drain) {
    all.add({.name = name, .is = is, .run = [&, producers, push, drain](std::int64_t n) {
               produce(producers, n, push);
               drain();
               asked += n;
             }});
  };
  bench::ring ring;
  if (producers == 1) {
    all.add({.name = "two threads, spinning, a ring",
             .is = bench::role::limit,
             .run =
                 [&](std::int64_t n) {
                   produce(1, n, [&] { ring.push(item); });
                   ring.drain();
                   asked += n;
                 },
             .prepare = [&] { ring.start(); },
             .finish = [&] { ring.stop(); }});
  }
  add(
      "heddle: submit, drain", bench::role::heddle, [&] { static_cast<void>(f.heddle->submit(item)); },
      [&] { f.heddle->drain(); });
  add(
      "a queue with a condition", bench::role::rival, [&] { f.queue.push(item); }, [&] { f.queue.drain(); });
  add(
      "oneTBB: enqueue, wait", bench::role::rival, [&] { f.tbb.push(item); }, [&] { f.tbb.drain(); });
#if HEDDLE_BENCH_HAS_TASKFLOW
  add(
      "Taskflow: silent_async", bench::role::rival, [&] { f.taskflow.silent_async(item); },
      [&] { f.taskflow.wait_for_all(); });
#endif
#if HEDDLE_BENCH_HAS_STARPU
  void (*starpu_item)() = item;
  all.add({.name = "StarPU",
           .run =
               [&](std::int64_t n) {
                 produce(producers, n, [&] { f.starpu.push(&starpu_item); });
                 f.starpu.drain();
                 asked += n;
               },
           .prepare = [&] { f.starpu.start(); },
           .finish = [&] { f.starpu.stop(); }});
#endif
  in_nanoseconds(all);
  all.check([&] { return counted.take() == std::exchange(asked, 0); });
  all.add_goal({.of = "heddle: submit, drain", .to = all.rivals(), .at_most = 1 / 1.5});
  all.add_goal({.of = "heddle: submit, drain", .at_most = 0.08e-6, .what = bench::measure::cpu});
  all.run();
}

void with_results(bench::session& session) {
  field f(2);
  bench::contest all(session, "with a result each, " + std::to_string(window) + " in flight: " + people(1, 2),
                     4);
  bool right = true;
  const auto add = [&](const char* name, bench::role is, auto submit) {
    all.add({.name = name, .is = is, .run = [&right, submit](std::int64_t n) {
               const auto at = [](std::int64_t k) { return static_cast<std::size_t>(k % window); };
               std::vector<decltype(submit(std::int64_t{}))> flying(window);
               std::int64_t sum = 0;
               for (std::int64_t k = 0; k < n + window; ++k) {
                 if (k >= window && k - window < n) sum += flying[at(k)].get();
                 if (k < n) flying[at(k)] = submit(k);
               }
               right = sum == n * (n - 1) / 2;
             }});
  };
  const auto result = [](std::int64_t k) { return [k] { return k; }; };
  add("heddle: submit, get", bench::role::heddle,
      [&](std::int64_t k) { return f.heddle->submit(result(k)); });
  add("a queue with a condition", bench::role::rival,
      [&](std::int64_t k) { return f.queue.submit(result(k)); });
  add("oneTBB: enqueue, std::promise", bench::role::rival,
      [&](std::int64_t k) { return f.tbb.submit(result(k)); });
#if HEDDLE_BENCH_HAS_TASKFLOW
  add("Taskflow: async", bench::role::rival, [&](std::int64_t k) { return f.taskflow.async(result(k)); });
#endif
  in_nanoseconds(all);
  all.check([&] { return right; });
  all.add_goal({.of = "heddle: submit, get", .to = all.rivals(), .at_most = 1 / 3.});
  all.run();
}

void in_batches(bench::session& session) {
  constexpr std::int64_t batch = 1024;
  field f(2);
  bench::contest all(session, "in batches of " + std::to_string(batch) + ": " + people(1, 2), 4);
  std::int64_t asked = 0;
  const auto add = [&](const char* name, bench::role is, auto push_all, auto drain) {
    all.add({.name = name, .is = is, .run = [&, push_all, drain](std::int64_t n) {
               for (std::int64_t k = 0; k < n; ++k) {
                 push_all(std::vector<std::decay_t<decltype(item)>>(batch, item));
               }
               drain();
               asked += n * batch;
             }});
  };
  const auto one_by_one = [](auto push) {
    return [push](const auto& items) {
      for (const auto& each : items) push(each);
    };
  };
  add(
      "heddle: submit_batch, drain", bench::role::heddle,
      [&](auto items) { static_cast<void>(f.heddle->submit_batch(std::move(items))); },
      [&] { f.heddle->drain(); });
  add(
      "a queue with a condition", bench::role::rival, [&](auto items) { f.queue.push_all(std::move(items)); },
      [&] { f.queue.drain(); });
  add("oneTBB: enqueue, wait", bench::role::rival, one_by_one([&](auto each) { f.tbb.push(each); }),
      [&] { f.tbb.drain(); });
  tbb::task_group group;
  add("oneTBB: task_group, the caller helps", bench::role::rival,
      one_by_one([&](auto each) { group.run(each); }), [&] { group.wait(); });
#if HEDDLE_BENCH_HAS_TASKFLOW
  add("Taskflow: silent_async", bench::role::rival,
      one_by_one([&](auto each) { f.taskflow.silent_async(each); }), [&] { f.taskflow.wait_for_all(); });
#endif
  in_nanoseconds(all);
  all.parts(batch);
  all.check([&] { return counted.take() == std::exchange(asked, 0); });
  all.add_goal({.of = "heddle: submit_batch, drain", .to = all.rivals(), .at_most = 1 / 1.5});
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  bench::look_for_taskflow(session);
  bench::look_for_starpu(session);
  plain(session, 1, 1);
  plain(session, 1, 2);
  plain(session, 4, 2);
  with_results(session);
  in_batches(session);
  return session.finish();
}
