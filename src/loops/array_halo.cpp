// SPDX-License-Identifier: Apache-2.0
#include "loops/array_halo.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {

// What `to` holds of other blocks, from where it lies.
void fetch(array_core& array, const array_block& to, device_context& context) {
  auto& device = context.frame().device;
  driver& seam = *context.frame().group.seam;
  const auto& threads = context.frame().group.threads;
  const stream_id on = device.stream(context.frame().stream);
  for (const auto& from : array.blocks) {
    if (from.place == to.place) continue;
    const std::int64_t begin = std::max(from.range.begin, to.held.begin);
    const std::int64_t end = std::min(from.range.end, to.held.end);
    if (begin >= end) continue;
    seam.copy_between(on, on.device, array.address(to, begin), threads[from.place]->stream(0).device,
                      array.address(from, begin),
                      static_cast<std::size_t>(end - begin) * array.element_bytes);
  }
}

}  // namespace

void refresh_halos(const std::shared_ptr<array_core>& array) {
  if (!std::exchange(array->halos_stale, false) || array->layout.halo == 0 || array->blocks.size() < 2)
    return;
  step next;
  next.crossing = true;
  const std::uint64_t era = array->failed.era();
  for (const auto& block : array->blocks) {
    next.parts.push_back(
        {block.place,
         [array, &block, era](device_context& context) {
           try {
             fetch(*array, block, context);
           } catch (...) {
             array->failed.set(std::current_exception(), era);
           }
         },
         [array, era](std::exception_ptr error) { array->failed.set(std::move(error), era); }});
  }
  (void)array->core->steps.add(std::move(next));
}

void exchange_halos(const std::shared_ptr<array_core>& array) { refresh_halos(array); }

}  // namespace heddle::detail
