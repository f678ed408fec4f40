// SPDX-License-Identifier: Apache-2.0
// What does heddle::parallel_for cost, hot and after idleness, beside what one would write instead?
//
// y = a x + y over n floats: a plain loop, oneTBB by two partitioners, OpenMP with passive waiting (its
// active waiting burns a core between the loops), and heddle on host devices. The goals:
//   n = 1,000                 0.3 us above a plain loop
//   n = 10,000, after idling  1.2 times a plain loop
//   n = 1,000,000 and more    1.02 times the best rival
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "heddle/heddle.hpp"
#include "rounds.hpp"

namespace {

constexpr const char* question = "What does heddle::parallel_for cost, beside what one would write instead?";
constexpr const char* us = "heddle::parallel_for";

/// Factors of 2 and -2 by turns: the values stay whole numbers, and a call that leaves out an index shows.
class vectors {
 public:
  explicit vectors(std::int64_t n)
      : n_(n),
        x_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n))),
        y_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n))) {
    for (std::int64_t i = 0; i < n; ++i) x_[at(i)] = x_of(i), y_[at(i)] = y_of(i);
  }
  std::int64_t size() const { return n_; }
  float* x() const { return x_.get(); }
  float* y() const { return y_.get(); }
  float next_factor() { return ++calls_ % 2 != 0 ? 2.f : -2.f; }
  bool right() const {
    const float added = calls_ % 2 != 0 ? 2.f : 0.f;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n_; ++i) wrong += y_[at(i)] != y_of(i) + added * x_of(i) ? 1 : 0;
    return wrong == 0;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static float x_of(std::int64_t i) { return static_cast<float>((i & 15) + 1); }
  static float y_of(std::int64_t i) { return static_cast<float>(i & 7); }

  std::int64_t n_;
  std::unique_ptr<float[]> x_, y_;
  std::int64_t calls_ = 0;
};

struct add_scaled {
  float a;
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, heddle::view<const float> x,
                                     heddle::view<float> y) const {
    y[i] += a * x[i];
  }
};

[[gnu::noinline]] void by_plain_loop(float a, const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

template <class Partitioner>
void by_tbb(float a, const float* x, float* y, std::int64_t n) {
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, n),
      [=](const tbb::blocked_range<std::int64_t>& part) {
        for (std::int64_t i = part.begin(); i < part.end(); ++i) y[i] += a * x[i];
      },
      Partitioner());
}

#if defined(_OPENMP)
void by_openmp(float a, const float* x, float* y, std::int64_t n) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}
#endif

void compare(bench::session& session, heddle::scheduler& sched, tbb::task_arena& arena, vectors& v,
             bool cold) {
  const std::string title =
      "saxpy, n = " + std::to_string(v.size()) + (cold ? ", each call after 300 us idle" : ", hot");
  bench::contest all(session, title, session.quick() ? 0.5 : v.size() < 10'000'000 ? 3 : 9);
  const auto add = [&](const char* name, bench::role is, auto call) {
    all.add({.name = name, .is = is, .run = [&v, call](std::int64_t calls) {
               for (std::int64_t k = 0; k < calls; ++k) call(v.next_factor(), v.x(), v.y(), v.size());
             }});
  };
  add("plain loop", bench::role::rival, by_plain_loop);
  add("tbb::parallel_for, auto", bench::role::rival, by_tbb<tbb::auto_partitioner>);
  add("tbb::parallel_for, static", bench::role::rival, by_tbb<tbb::static_partitioner>);
#if defined(_OPENMP)
  add("OpenMP, static, passive", bench::role::rival, by_openmp);
#endif
  // What any loop on the calling thread has to pay whose body may start tasks that stay on its device.
  if (cold && v.size() == 10'000) {
    add("plain loop in a task_arena", bench::role::rival,
        [&arena](float a, const float* x, float* y, std::int64_t n) {
          arena.execute([=] { by_plain_loop(a, x, y, n); });
        });
  }
  add(us, bench::role::heddle, [&sched](float a, const float* x, float* y, std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    heddle::parallel_for(sched, n, add_scaled{a}, heddle::in(std::span(x, size)),
                         heddle::inout(std::span(y, size)));
  });
  if (cold) all.before_each_call([] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
  if (v.size() == 1000 && !cold) {
    all.add_goal({.of = us, .to = {"plain loop"}, .at_most = 0.3e-6, .difference = true});
  }
  if (v.size() == 10'000 && cold) all.add_goal({.of = us, .to = {"plain loop"}, .at_most = 1.2});
  if (v.size() >= 1'000'000 && !cold) all.add_goal({.of = us, .to = all.rivals(), .at_most = 1.02});
  all.check([&] { return v.right(); });
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
#if defined(_OPENMP)
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) {  // its runtime reads it before main
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
  }
#endif
  bench::session session(argc, argv, question);
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  heddle::scheduler sched(options);
  tbb::task_arena arena(2, 1);
  arena.initialize();
  std::printf("%zu host devices; views are %schecked\n", sched.devices().size(),
              HEDDLE_CHECKED_VIEWS ? "" : "not ");
#if !defined(_OPENMP)
  session.left_out("OpenMP", "it was not found when this was built");
#endif

  for (std::int64_t n = 1000; n <= (session.quick() ? 10'000'000 : 100'000'000); n *= 10) {
    const double needed = 2 * sizeof(float) * static_cast<double>(n);
    if (2 * needed > bench::available_memory()) {
      session.left_out("n = " + std::to_string(n), "there is not enough memory");
      break;
    }
    vectors v(n);
    compare(session, sched, arena, v, false);
    if (n <= (session.quick() ? 10'000 : 1'000'000)) compare(session, sched, arena, v, true);
  }
  return session.finish();
}
