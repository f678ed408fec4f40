// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "device/item_frame.hpp"
#include "heddle/device_local.hpp"
#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

namespace {
std::atomic<std::uint64_t> next_key{1};  // publishes nothing: a name
}

local_slots::local_slots(scheduler_core& core, bool per_stream)
    : serial_(core.group.serial),
      key_(next_key.fetch_add(1, std::memory_order_relaxed)),
      streams_(per_stream ? core.group.threads.front()->streams() : 1) {
  for (const auto& each : core.devices) ids_.push_back(each.id);
  objects_.resize(ids_.size() * static_cast<std::size_t>(streams_));
}

local_slots::~local_slots() {
  if (is_forked_child()) return;
  for (std::size_t place = 0; place < ids_.size(); ++place) {
    try {
      submission admitted(serial_, static_cast<int>(place));
      auto destroy = [key = key_](device_context& context) {
        context.frame().device.locals.remove_if([key](const local_object& each) { return each.key == key; });
      };
      auto* const it = new typed_item<void, decltype(destroy)>(destroy);
      const auto dropped = future_access::make<void>(*it);
      admitted.start(*it);
    } catch (...) {  // a scheduler that is closed or gone: its threads destroy what they have when they end
    }
  }
}

route local_slots::maker(std::size_t k) const {
  const auto place = k / static_cast<std::size_t>(streams_);
  auto to = route::on(ids_[place]);
  if (streams_ > 1) to.stream(static_cast<int>(k % static_cast<std::size_t>(streams_)));
  return to;
}

void local_slots::fill(std::size_t k, device_context& context, void* object, operation owner) {
  context.frame().device.locals.push_back({key_, std::move(owner)});
  objects_[k] = object;
}

void* local_slots::at(const device_context& context) const {
  const auto& frame = context.frame();
  if (frame.group.serial != serial_) {
    throw invalid_option(
        "a device_local was asked for in an item of another scheduler: make one for each scheduler");
  }
  if (frame.stream < 0) {
    throw invalid_option(
        "an item routed in_arena has no device_local: several of them run at once; use it in items of the "
        "device thread");
  }
  const auto place = static_cast<std::size_t>(frame.device.identity().index);
  const auto stream = streams_ > 1 ? static_cast<std::size_t>(frame.stream) : 0;
  return objects_[place * static_cast<std::size_t>(streams_) + stream];
}

}  // namespace heddle::detail
