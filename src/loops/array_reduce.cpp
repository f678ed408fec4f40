// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/detail/reduction_blocks.hpp"
#include "loops/loop_items.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"

namespace heddle::detail {

namespace {

std::size_t own_place() noexcept { return static_cast<std::size_t>(bound()->index); }

// The values of all blocks, each from the device that made it.
void* fetch_partials(replicated_core& target, const array_core& array, const loop_request& request,
                     device_context& context) {
  auto* const all = context.scratch<std::byte>(static_cast<std::size_t>(request.size) * target.bytes).data();
  auto& device = context.frame().device;
  driver& seam = *context.frame().group.seam;
  const auto& threads = context.frame().group.threads;
  const stream_id on = device.stream(context.frame().stream);
  for (const auto& from : array.blocks) {
    const auto begin = static_cast<std::size_t>(from.range.begin / request.unit) * target.bytes;
    const auto end =
        static_cast<std::size_t>((from.range.end + request.unit - 1) / request.unit) * target.bytes;
    seam.copy_between(on, on.device, all + begin, threads[from.place]->stream(0).device,
                      static_cast<std::byte*>(target.partials[from.place].data()) + begin, end - begin);
  }
  return all;
}

/// Calls `finish` on one device. What it throws leaves the value undefined before the next step looks; thrown
/// on, it would fail the later work of every stream that waits for this one.
template <class Finish>
void finish_on_one(replicated_core& target, std::uint64_t era, poison& failed, Finish finish) {
  try {
    finish();
  } catch (...) {
    target.failed.set(std::current_exception(), era);
    failed.set(std::current_exception(), 0);
  }
}

struct end_of_reduction {
  std::shared_ptr<loop_parts> parts;
  std::shared_ptr<replicated_core> target;
  std::uint64_t era;
  std::shared_ptr<poison> unfinished;
  void operator()() {
    std::exception_ptr first;
    for (auto& each : parts->take()) {
      const part_end end = end_of(each);
      if (!first) first = end.error;
    }
    if (!first) first = unfinished->get();
    if (!first) return;
    target->failed.set(first, era);
    std::rethrow_exception(first);
  }
};

}  // namespace

void* own_copy(const replicated_core& value) noexcept { return value.values[own_place()].data(); }
void* own_partials(const replicated_core& value) noexcept { return value.partials[own_place()].data(); }

future<void> start_reduction(scheduler_core& core, const loop_request& request, const loop_options& options,
                             std::shared_ptr<void> owner, std::vector<array_use> uses,
                             reduction_steps steps) {
  std::shared_ptr<array_core> array;
  for (const auto& each : uses) {
    if (each.array) array = each.array;
  }
  uses.push_back({nullptr, steps.target, false, true, false});
  const std::uint64_t era = steps.target->failed.era();
  std::vector<future<void>> parts;
  const auto unfinished = std::make_shared<poison>();
  parts.push_back(start_on_arrays(core, request, options, owner, std::move(uses)));
  try {
    step last;
    last.crossing = true;
    last.label = options.label;
    const bool on_host = core.devices.front().kind == backend::host;
    for (std::size_t place = 0; place < core.devices.size(); ++place) {
      last.parts.push_back(
          {place,
           [=, target = steps.target, finish = steps.finish, owner = owner](device_context& context) {
             if (const auto error = target->failed.get()) std::rethrow_exception(error);
             void* const value = target->values[place].data();
             if (on_host) {
               context.enqueue([target, finish, value, unfinished, era] {
                 if (target->failed.get()) return;
                 finish_on_one(*target, era, *unfinished, [&] { finish(nullptr, nullptr, value); });
               });
             } else {
               finish_on_one(*target, era, *unfinished, [&] {
                 finish(&context, fetch_partials(*target, *array, request, context), value);
               });
             }
           },
           [target = steps.target, era](std::exception_ptr error) {
             target->failed.set(std::move(error), era);
           }});
    }
    for (auto& each : core.steps.add(std::move(last))) parts.push_back(std::move(each));
  } catch (...) {  // what the first ones refer to may go then
    for (auto& each : parts) (void)wait_for_part(each);
    throw;
  }
  return join_parts(
      end_of_reduction{std::make_shared<loop_parts>(std::move(parts)), steps.target, era, unfinished});
}

}  // namespace heddle::detail
