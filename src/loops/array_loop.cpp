// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/error.hpp"
#include "loops/array_halo.hpp"
#include "loops/loop_items.hpp"
#include "loops/shared_loop.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {

bool lie_alike(const array_core& a, const array_core& b) {
  return std::equal(
      a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
      [](const array_block& x, const array_block& y) { return x.place == y.place && x.range == y.range; });
}

/// One loop over arrays, as long as any of its items lives.
struct array_loop {
  array_loop(scheduler_core& the_core, const loop_request& r, const loop_options& options,
             std::shared_ptr<void> the_owner, std::vector<array_use> the_uses)
      : core(the_core),
        request(r),
        not_done(options.not_done),
        owner(std::move(the_owner)),
        uses(std::move(the_uses)),
        outcome(r, options.stop) {}

  /// What is undefined of what the loop reads, or leaves partly as it is.
  /// Not by the loop's own failure, which its outcome knows.
  std::exception_ptr poisoned() const {
    for (const auto& each : uses) {
      if (!each.read) continue;
      const auto error = each.failed().get();
      if (error && error != own.get()) return error;
    }
    return nullptr;
  }
  void fail(index_range indices, const std::exception_ptr& error) {
    poison_written(error);  // first: who is left out because of it must not be the one to say why
    outcome.failed(indices, error);
  }
  /// A part that reads what is undefined: one says so for all of them.
  void refuse(index_range indices, const std::exception_ptr& error) {
    const bool said = failed.exchange(true, std::memory_order_relaxed);
    set_written(error);
    said ? outcome.left_out(indices) : outcome.failed(indices, error);
  }
  void leave_out(index_range indices) {
    outcome.left_out(indices);
    poison_written(std::make_exception_ptr(
        cancelled(std::string(request.name) +
                  " was stopped, so that what it was to write is undefined: scatter or fill it anew")));
  }
  /// A part whose item was cancelled.
  void cancel(index_range indices) {
    outcome.cancel();
    leave_out(indices);
  }
  void poison_written(const std::exception_ptr& error) {
    failed.store(true, std::memory_order_relaxed);
    own.set(error, 0);
    set_written(own.get());
  }
  void set_written(const std::exception_ptr& error) {
    for (const auto& each : uses) {
      if (each.written) each.failed().set(error, each.era);
    }
  }
  void run(index_range units, index_range indices) {
    if (auto error = poisoned()) return refuse(indices, error);
    if (!outcome.wanted(indices.begin)) return leave_out(indices);
    try {
      run_in_arena(units);
    } catch (...) {
      fail(indices, std::current_exception());
    }
  }
  /// By as many threads of the device's arena as there are cores for each device.
  void run_in_arena(index_range units) {
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      request.operations->run(request.self, begin, end);
    };
    const int threads = std::max(1, core.cores / static_cast<int>(core.devices.size()));
    if (threads == 1) return run(units.begin, units.end);
    const std::int64_t pieces = std::min<std::int64_t>(units.end - units.begin, 8 * threads);
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(std::int64_t{0}, pieces, [&](std::int64_t k) {
        const std::int64_t size = units.end - units.begin;
        run(units.begin + size / pieces * k + std::min(k, size % pieces),
            units.begin + size / pieces * (k + 1) + std::min(k + 1, size % pieces));
      });
    });
  }
  void put(device_context& context, index_range units, index_range indices) {
    if (auto error = poisoned()) return refuse(indices, error);
    if (!outcome.wanted(indices.begin)) return leave_out(indices);
    try {
      request.operations->put(request.self, context, units.begin, units.end);
    } catch (...) {
      fail(indices, std::current_exception());
    }
  }

  scheduler_core& core;
  const loop_request request;
  std::vector<index_range>* const not_done;
  std::shared_ptr<void> owner;
  const std::vector<array_use> uses;
  loop_outcome outcome;
  std::vector<index_range> parts;
  std::atomic<bool> failed{false};  // a part of it; publishes nothing: a part that misses it reports one more
  poison own;                       // what the loop itself has left undefined what it writes by
};

struct end_of_array_loop {
  std::shared_ptr<loop_parts> parts;
  std::shared_ptr<array_loop> loop;
  void operator()() {
    auto all = parts->take();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const part_end end = end_of(all[k]);
      if (end.unstarted) {
        loop->cancel(loop->parts[k]);
      } else if (end.error) {
        loop->fail(loop->parts[k], end.error);
      }
    }
    loop->outcome.finish(*loop->core.group.sink, loop->not_done);
  }
};

// What is read at any index must not be written meanwhile, nor one element by two.
void refuse_shared_arrays(const char* name, const std::vector<array_use>& uses) {
  for (std::size_t k = 0; k < uses.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      const array_use &a = uses[j], &b = uses[k];
      if (!a.array || a.array != b.array) continue;
      const bool apart = !(a.written && b.written) && !(a.written && b.halo) && !(a.halo && b.written);
      if (apart) continue;
      throw invalid_option(
          std::string(name) + " with one distributed_array as two arguments, " +
          (a.written && b.written ? "both of which are written"
                                  : "one of which is written and the other read with its halo") +
          ": what the loop reads would depend on how it is split; write to a second array, or use inout for "
          "what is both");
    }
  }
}

const array_core& leading_array(const loop_request& request, const std::vector<array_use>& uses) {
  const array_core* first = nullptr;
  for (const auto& each : uses) {
    if (!each.array) continue;
    if (first == nullptr) first = each.array.get();
    if (each.array->size() != request.indices) {
      throw invalid_option(std::string(request.name) + " over " + std::to_string(request.indices) +
                           " indices with a distributed_array of " + std::to_string(each.array->size()) +
                           " elements: sizes must be equal");
    }
    if (!lie_alike(*first, *each.array)) {
      throw invalid_option(
          std::string(request.name) +
          " over distributed_arrays that are divided in different ways: make them of one size "
          "and shape, with the same weights, on one scheduler");
    }
  }
  if (first == nullptr) {
    throw invalid_option(
        std::string(request.name) +
        " with a replicated value and no distributed_array: give it the value itself (get()), or an "
        "array to follow");
  }
  return *first;
}

}  // namespace

future<void> start_on_arrays(scheduler_core& core, const loop_request& request, const loop_options& options,
                             std::shared_ptr<void> owner, std::vector<array_use> uses) {
  if (options.not_done != nullptr) options.not_done->clear();
  const array_core& first = leading_array(request, uses);
  refuse_shared_arrays(request.name, uses);
  for (const auto& each : uses) {
    if ((each.array ? each.array->core : each.replicated->core).get() == &core) continue;
    throw invalid_option(
        std::string(request.name) +
        " with an array or a value of another scheduler: make them on the one that runs the loop");
  }
  const counted_loop counted(core, request.name);
  if (first.blocks.empty()) return submit_part(core, route::any().label(options.label), false, [] {});
  for (auto& each : uses) {
    each.era = each.failed().era();
    if (each.halo) refresh_halos(each.array);
  }
  const auto loop = std::make_shared<array_loop>(core, request, options, std::move(owner), uses);
  step next;
  next.label = options.label;
  const bool on_host = core.devices.front().kind == backend::host && !request.in_items;
  for (const auto& block : first.blocks) {
    const index_range indices = block.range;
    const index_range units{indices.begin / request.unit, (indices.end + request.unit - 1) / request.unit};
    loop->parts.push_back(indices);
    next.parts.push_back({block.place,
                          [loop, units, indices, on_host](device_context& context) {
                            if (!on_host) return loop->put(context, units, indices);
                            context.enqueue([loop, units, indices] { loop->run(units, indices); });
                          },
                          [loop, indices](const std::exception_ptr&) { loop->cancel(indices); }});
  }
  for (const auto& each : uses) {
    if (each.array && each.written) each.array->halos_stale = true;
  }
  auto parts = core.steps.add(std::move(next));
  return join_parts(end_of_array_loop{
      std::make_shared<loop_parts>(std::move(parts), [loop] { loop->outcome.cancel(); }), loop});
}

}  // namespace heddle::detail
