// SPDX-License-Identifier: Apache-2.0
// How much memory does a queued item take, and is there a limit to all of them?
//
// A process of its own for each figure, which says by how much its memory grew. The goal: with a queue of
// 4,096 items, 16 times as many items need at most 1.25 times the memory, since submit() waits for room. The
// items' own size is the same everywhere: a callable of 8 bytes.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "child.hpp"
#include "host_devices.hpp"
#include "rivals/condvar_queue.hpp"
#include "rivals/tbb_items.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question =
    "How much memory does a queued item take, and is there a limit to all of them?";
constexpr std::size_t capacity = 4096;

std::atomic<std::int64_t> sum;

/// Pushes so many items while nothing runs; bytes an item.
template <class Push, class Drain>
double queued(double before, std::int64_t items, Push push, Drain drain) {
  std::atomic<bool> open{false};
  push([&open] { open.wait(false); });
  for (std::int64_t k = 0; k < items; ++k) push([k] { sum += k; });
  const double after = bench::own_memory("VmRSS");
  open = true;
  open.notify_all();
  drain();
  return (after - before) / static_cast<double>(items);
}

/// Pushes them faster than they run; bytes that were needed at some time.
template <class Push, class Drain>
double streamed(double before, std::int64_t items, Push push, Drain drain) {
  for (std::int64_t k = 0; k < items; ++k) {
    push([k] {
      for (const auto began = bench::clock::now(); bench::seconds_since(began) < 2e-6;) {
      }
      sum += k;
    });
  }
  drain();
  return bench::own_memory("VmHWM") - before;
}

/// What a child does: prints a figure, and 0 instead where the items' sum is wrong.
void answer(const std::string& who, bool all_at_once, std::int64_t items) {
  const double before = bench::own_memory("VmRSS");
  const auto grown = [&](auto push, auto drain) {
    return all_at_once ? queued(before, items, push, drain) : streamed(before, items, push, drain);
  };
  double figure = 0;
  if (who == "heddle") {
    const auto sched =
        bench::host_devices(1, all_at_once ? static_cast<std::size_t>(items) + 1 : std::size_t{capacity});
    figure = grown([&](auto f) { static_cast<void>(sched->submit(f)); }, [&] { sched->drain(); });
  } else if (who == "queue") {
    bench::condvar_queue queue(1);
    figure = grown([&](auto f) { queue.push(f); }, [&] { queue.drain(); });
  } else {
    bench::tbb_items tbb(1);
    figure = grown([&](auto f) { tbb.push(f); }, [&] { tbb.drain(); });
  }
  std::printf("%.3f\n", sum == items * (items - 1) / 2 ? figure : 0.);
}

void compare(bench::session& session, bool all_at_once, std::int64_t items) {
  bench::contest all(session,
                     all_at_once
                         ? "queued items"
                         : "items that come faster than they run; a queue of " + std::to_string(capacity),
                     1);
  bool right = true;
  const auto add = [&](const std::string& name, bench::role is, const std::string& who, std::int64_t n) {
    all.add({.name = name,
             .is = is,
             .measure =
                 [&right, all_at_once, who, n](std::int64_t) {
                   bench::child process({"/proc/self/exe", "--grow", who,
                                         all_at_once ? "at-once" : "streamed", std::to_string(n)});
                   const double figure = std::atof(process.answer().c_str());
                   right = figure > 0;
                   return bench::taken{.figure = figure};
                 },
             .warm = false});
  };
  all.check([&] { return right; });
  if (all_at_once) {
    all.show_in({"bytes an item", 1});
    add("heddle", bench::role::heddle, "heddle", items);
    add("a queue with a condition", bench::role::rival, "queue", items);
    add("oneTBB: enqueue", bench::role::rival, "tbb", items);
  } else {
    const auto full = static_cast<std::int64_t>(capacity);
    all.show_in({"MiB", 1. / (1 << 20)});
    add("heddle, as many as the queue takes", bench::role::heddle, "heddle", full);
    add("heddle, 16 times as many", bench::role::heddle, "heddle", 16 * full);
    add("a queue with a condition, the same", bench::role::rival, "queue", 16 * full);
    add("oneTBB: enqueue, the same", bench::role::rival, "tbb", 16 * full);
    all.add_goal(
        {.of = "heddle, 16 times as many", .to = {"heddle, as many as the queue takes"}, .at_most = 1.25});
  }
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--grow") {
    answer(argv[2], std::string_view(argv[3]) == "at-once", std::atoll(argv[4]));
    return 0;
  }
  bench::session session(argc, argv, question);
  compare(session, true, session.quick() ? 100'000 : 500'000);
  compare(session, false, 0);
  return session.finish();
}
