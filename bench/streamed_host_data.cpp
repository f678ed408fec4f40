// SPDX-License-Identifier: Apache-2.0
// How fast do host ranges go through a loop, beside memcpy?
//
// On host devices, where parallel_for uses the ranges as they lie. "Through device_buffers" is what a loop
// does on devices with memory of their own: each chunk is copied there, worked on, and copied back.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heddle/heddle.hpp"
#include "rounds.hpp"

namespace {

using heddle::view;

constexpr const char* question = "How fast do host ranges go through a loop, beside memcpy?";

struct add_one {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, view<const float> from, view<float> to) const {
    to[i] = from[i] + 1;
  }
};
struct add_one_in_place {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, view<float> v) const { v[i] += 1; }
};

/// `f(begin, size)` for parts of [0, n), by all threads of TBB.
template <class F>
void in_parts(std::size_t n, F f) {
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, 1 << 16),
      [&](const tbb::blocked_range<std::size_t>& part) { f(part.begin(), part.size()); },
      tbb::static_partitioner());
}

/// What is in `from`, and in `to` and `own` with so much added.
struct ranges {
  explicit ranges(std::size_t n) : from(n), to(n), own(n) {
    for (std::size_t i = 0; i < n; ++i) own[i] = from[i] = value(i);
  }
  static float value(std::size_t i) { return static_cast<float>(i & 1023); }
  static bool right(const std::vector<float>& v, float added) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < v.size(); ++i) wrong += v[i] != value(i) + added ? 1u : 0u;
    return wrong == 0;
  }
  /// So that an element that is left out shows.
  void spoil() {
    in_parts(to.size(), [this](std::size_t begin, std::size_t size) { std::fill_n(&to[begin], size, -1.f); });
  }

  std::vector<float> from, to, own;
  float calls_on_own = 0;
};

void through_buffers(heddle::device_context& d, std::span<const float> from, std::span<float> to) {
  const auto n = static_cast<std::int64_t>(from.size());
  heddle::device_buffer<float> source(d, from.size()), target(d, to.size());
  d.copy(source, from);
  d.launch(n, add_one(), view<const float>(source.data(), 0, {0, n}), view<float>(target.data(), 0, {0, n}));
  d.copy(to, target);
}

void compare(bench::session& session, heddle::scheduler& sched, std::size_t n) {
  ranges r(n);
  heddle::distributed_array<float> array(sched, n);
  array.scatter(r.from);
  const std::size_t bytes = n * sizeof(float);
  bench::contest all(session, std::to_string(bytes >> 20) + " MiB read and as much written", 15);
  std::function<bool()> right;
  const auto add = [&](const char* name, auto call, std::function<bool()> is_right,
                       bench::role is = bench::role::heddle) {
    all.add({.name = name,
             .is = is,
             .run =
                 [&right, call, is_right](std::int64_t calls) {
                   right = is_right;
                   for (std::int64_t k = 0; k < calls; ++k) call();
                 },
             .prepare = [&] { r.spoil(); }});
  };
  const auto copied = [&] { return ranges::right(r.to, 0); };
  const auto added = [&] { return ranges::right(r.to, 1); };

  add(
      "memcpy, all threads",
      [&] {
        in_parts(n, [&](std::size_t begin, std::size_t size) {
          std::memcpy(&r.to[begin], &r.from[begin], size * sizeof(float));
        });
      },
      copied, bench::role::limit);
  add(
      "memcpy, one thread", [&] { std::memcpy(r.to.data(), r.from.data(), bytes); }, copied,
      bench::role::rival);
  add(
      "tbb::parallel_for, in to out",
      [&] {
        in_parts(n, [&](std::size_t begin, std::size_t size) {
          const float* const from = &r.from[begin];
          float* const to = &r.to[begin];
          for (std::size_t i = 0; i < size; ++i) to[i] = from[i] + 1;
        });
      },
      added, bench::role::rival);
  add(
      "parallel_for, in to out",
      [&] { heddle::parallel_for(sched, n, add_one(), heddle::in(r.from), heddle::out(r.to)); }, added);
  add(
      "parallel_for, inout",
      [&] {
        heddle::parallel_for(sched, n, add_one_in_place(), heddle::inout(r.own));
        r.calls_on_own += 1;
      },
      [&] { return ranges::right(r.own, r.calls_on_own); });
  add(
      "for_each_chunk, memcpy",
      [&] {
        heddle::for_each_chunk(
            sched, n,
            [](heddle::device_context&, heddle::index_range part, view<const float> from, view<float> to) {
              std::memcpy(to.local(), from.local(), part.size() * sizeof(float));
            },
            heddle::in(r.from), heddle::out(r.to));
      },
      copied);
  add(
      "through device_buffers",
      [&] {
        heddle::for_each_chunk(
            sched, n,
            [](heddle::device_context& d, heddle::index_range part, view<const float> from, view<float> to) {
              through_buffers(d, {from.local(), part.size()}, {to.local(), part.size()});
            },
            heddle::in(r.from), heddle::out(r.to));
      },
      added);
  add(
      "distributed_array::scatter", [&] { array.scatter(r.from); },
      [&] {
        array.gather(r.to);
        return ranges::right(r.to, 0);
      });
  add(
      "distributed_array::gather", [&] { array.gather(r.to); }, copied);
  all.show_in({"ms", 1e3});
  all.bytes(2 * static_cast<double>(bytes));
  all.check([&] { return right(); });
  all.run();
}

}  // namespace

int main(int argc, char** argv) {
  bench::session session(argc, argv, question);
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  heddle::scheduler sched(options);
  std::printf("%zu host devices; views are %schecked\n", sched.devices().size(),
              HEDDLE_CHECKED_VIEWS ? "" : "not ");

  const std::size_t n = session.quick() ? std::size_t{1} << 23 : std::size_t{1} << 26;
  const double needed = 4 * sizeof(float) * static_cast<double>(n);  // three ranges, and the array
  if (1.5 * needed > bench::available_memory()) {
    std::printf("not run: it needs %.1f GB of memory\n", needed / 1e9);
    return 1;
  }
  compare(session, sched, n);
  return session.finish();
}
