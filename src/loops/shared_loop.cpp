// SPDX-License-Identifier: Apache-2.0
#include "loops/shared_loop.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {
constexpr std::int64_t most_grains = std::int64_t{1} << 31;  // that a share can count
}

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

index_range shared_loop::range_of(piece p) const noexcept {
  return chunk_at(parts_[p.part].range, grains_[p.part], p.grain);
}

std::uint64_t shared_loop::drain(std::size_t k) noexcept {
  std::uint64_t done = 0;
  std::size_t helping = k;
  while (const auto p = next(k, helping)) {
    const index_range range = range_of(*p);
    const index_range indices = request_.indices_of(range);
    if (!outcome_.wanted(indices.begin)) {
      outcome_.left_out(indices);
      continue;
    }
    try {
      request_.operations->run(request_.self, range.begin, range.end);
      done += indices.size();
    } catch (...) {
      outcome_.failed(indices, std::current_exception());
    }
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
  while (const auto grain = shares_[k].take_first()) {
    outcome_.failed(request_.indices_of(range_of({k, *grain})), error);
  }
}

void shared_loop::item_left_out(std::size_t k) noexcept {
  outcome_.cancel();
  while (const auto grain = shares_[k].take_first()) {
    outcome_.left_out(request_.indices_of(range_of({k, *grain})));
  }
}

void shared_loop::finish(std::vector<index_range>* not_done) { outcome_.finish(*core_.group.sink, not_done); }

}  // namespace heddle::detail
