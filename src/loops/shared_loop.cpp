// SPDX-License-Identifier: Apache-2.0
#include "loops/shared_loop.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {
constexpr std::int64_t most_grains = std::int64_t{1} << 31;  // that a share can count
constexpr std::chrono::milliseconds longest_step{1};
}  // namespace

shared_loop::shared_loop(scheduler_core& core, const loop_request& request, const loop_options& options,
                         sharing how)
    : core_(core),
      request_(request),
      parts_(std::move(how.parts)),
      may_help_(how.may_help),
      threads_(how.threads),
      shares_(parts_.size()),
      outcome_(request, options.stop) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const auto size = static_cast<std::int64_t>(parts_[k].range.size());
    const std::int64_t grain = std::max({how.grain, std::int64_t{1}, size / most_grains + 1});
    grains_.push_back(grain);
    shares_[k].fill({0, static_cast<std::uint32_t>(chunk_count(parts_[k].range, grain))});
  }
}

// Its own share first, from the front, then the far end of another one's.
std::optional<shared_loop::piece> shared_loop::next(std::size_t k, std::size_t& helping) noexcept {
  if (const auto own = shares_[k].take_first()) return piece{k, *own};
  if (!may_help_) return std::nullopt;
  for (std::size_t tried = 0; tried < parts_.size(); ++tried) {
    if (const auto taken = shares_[helping].take_last()) return piece{helping, *taken};
    helping = helping + 1 == parts_.size() ? 0 : helping + 1;
  }
  return std::nullopt;
}

index_range shared_loop::indices_of(std::size_t part, share::grains g) const noexcept {
  const auto at = [&](std::uint32_t grain) { return chunk_at(parts_[part].range, grains_[part], grain); };
  return request_.indices_of({at(g.first).begin, at(g.last - 1).end});
}

// A piece that is not wanted any more, and with it all that is left of its part behind it: there may be
// billions.
void shared_loop::leave_out(piece p) noexcept {
  const index_range part = parts_[p.part].range;
  const std::int64_t index = outcome_.wanted_before();
  const std::int64_t unit = index / request_.unit + (index % request_.unit != 0 ? 1 : 0);
  const std::int64_t before = std::max<std::int64_t>(unit - part.begin, 0);
  const std::uint64_t grain = chunk_count({0, before}, grains_[p.part]);  // the first one that is not wanted
  const auto rest =
      shares_[p.part].take_from(static_cast<std::uint32_t>(std::min<std::uint64_t>(grain, most_grains)));
  if (rest.first < rest.last) outcome_.left_out(indices_of(p.part, rest));
  outcome_.left_out(indices_of(p.part, {p.grain, p.grain + 1}));
}

// How many of the units are done. In steps of about a millisecond if `step`, the size of the next one, is not
// 0: somebody may ask to stop.
std::int64_t shared_loop::run(index_range units, std::int64_t& step) {
  using clock = std::chrono::steady_clock;
  std::int64_t done = units.begin;
  try {
    if (step == 0) {
      request_.operations->run(request_.self, units.begin, units.end);
      return units.end - units.begin;
    }
    while (done < units.end && (done == units.begin || outcome_.wanted(done * request_.unit))) {
      const auto began = clock::now();
      const std::int64_t end = units.end - done > step ? done + step : units.end;
      request_.operations->run(request_.self, done, end);
      const auto took = clock::now() - began;
      if (took > longest_step) step = std::max<std::int64_t>(step / 2, 1);
      if (took < longest_step / 4 && end - done == step && step <= request_.size / 2) step *= 2;
      done = end;
    }
  } catch (...) {
    outcome_.failed(request_.indices_of({done, units.end}), std::current_exception());
    return done - units.begin;
  }
  if (done < units.end) outcome_.left_out(request_.indices_of({done, units.end}));
  return done - units.begin;
}

std::uint64_t shared_loop::drain(std::size_t k) noexcept {
  std::uint64_t done = 0;
  std::size_t helping = k;
  std::int64_t step = outcome_.may_stop() ? 1 : 0;
  while (const auto p = next(k, helping)) {
    const index_range units = chunk_at(parts_[p->part].range, grains_[p->part], p->grain);
    if (!outcome_.wanted(units.begin * request_.unit)) {
      leave_out(*p);
      continue;
    }
    const std::int64_t count = run(units, step);
    if (count > 0) done += request_.indices_of({units.begin, units.begin + count}).size();
  }
  return done;
}

void shared_loop::work(std::size_t k) noexcept {
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  std::uint64_t done = 0;
  tbb::this_task_arena::isolate([&] {
    if (threads_ == 1) {
      done = drain(k);
      return;
    }
    std::atomic<std::uint64_t> sum{0};  // publishes nothing: the loop's end does
    tbb::parallel_for(
        0, threads_, [&](int) { sum.fetch_add(drain(k), std::memory_order_relaxed); },
        tbb::simple_partitioner());
    done = sum.load(std::memory_order_relaxed);
  });
  const std::chrono::duration<double> took = clock::now() - began;
  if (done > 0) core_.history.note(request_.body, parts_[k].device, core_.devices.size(), done, took.count());
}

void shared_loop::item_failed(std::size_t k, std::exception_ptr error) noexcept {
  const auto rest = shares_[k].take_from(0);
  if (rest.first < rest.last) outcome_.failed(indices_of(k, rest), std::move(error));
}

void shared_loop::item_left_out(std::size_t k) noexcept {
  outcome_.cancel();
  const auto rest = shares_[k].take_from(0);
  if (rest.first < rest.last) outcome_.left_out(indices_of(k, rest));
}

void shared_loop::finish(std::vector<index_range>* not_done) { outcome_.finish(*core_.group.sink, not_done); }

}  // namespace heddle::detail
