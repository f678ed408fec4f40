// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/device_context.hpp"
#include "loops/loop_items.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {

struct end_of_scan {
  std::shared_ptr<loop_parts> parts;    // the elements last
  std::shared_ptr<array_core> written;  // or null
  std::uint64_t era;                    // of what is written
  void operator()() {
    std::exception_ptr first, last;
    for (auto& each : parts->take()) {
      last = end_of(each).error;
      if (!first) first = last;
    }
    if (!first) return;
    if (!last && written) written->failed.set(first, era);  // it failed behind their back
    std::rethrow_exception(first);
  }
};

// Of the device, for as long as the target lives.
void* make_memory(device_allocation& own, device_context& context, std::int64_t count, std::size_t bytes) {
  own = device_allocation(memory_kind::device, context.frame(), static_cast<std::size_t>(count), bytes);
  return own.data();
}

/// On host devices the first part to come finishes for all.
struct shared_finish {
  std::mutex mutex;
  bool called = false;  // guarded by mutex
};

decltype(reduction_steps::finish) finish_of_blocks(const reduction_steps& steps, std::int64_t blocks) {
  return [=, target = steps.target, finish = steps.finish, shared = std::make_shared<shared_finish>()](
             device_context* context, void* partials, void*) {
    if (context == nullptr) {
      const std::lock_guard lock(shared->mutex);
      if (!std::exchange(shared->called, true)) finish(nullptr, nullptr, nullptr);
    } else {
      auto& own = target->values[place_of(*context)];
      finish(context, partials, make_memory(own, *context, blocks, target->bytes));
    }
  };
}

}  // namespace

void* make_own_partials(replicated_core& all, device_context& context, std::int64_t count) {
  return make_memory(all.partials[place_of(context)], context, count, all.bytes);
}

// The arrays are checked by the first step already, which reads what the scan reads, and writes none of them.
future<void> start_scan(scheduler_core& core, const loop_request& sums, const loop_request& write,
                        const loop_options& options, std::shared_ptr<void> owner, std::vector<array_use> uses,
                        reduction_steps steps) {
  auto read = uses;
  std::shared_ptr<array_core> written;
  for (auto& each : read) {
    if (std::exchange(each.written, false)) written = each.array;
  }
  const std::uint64_t era = written ? written->failed.era() : 0;
  uses.push_back({nullptr, steps.target, true, false, false});
  steps.finish = finish_of_blocks(steps, sums.size);
  loop_options first = options;
  first.not_done = nullptr;  // what it has not done the elements' step does not do either, and says so
  std::vector<future<void>> parts;
  parts.push_back(start_reduction(core, sums, first, owner, std::move(read), std::move(steps)));
  try {
    parts.push_back(start_on_arrays(core, write, options, std::move(owner), std::move(uses)));
  } catch (...) {  // what the first ones refer to may go then
    (void)wait_for_part(parts.front());
    throw;
  }
  return join_parts(end_of_scan{std::make_shared<loop_parts>(std::move(parts)), std::move(written), era});
}

}  // namespace heddle::detail
