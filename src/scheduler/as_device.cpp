// SPDX-License-Identifier: Apache-2.0
#include "heddle/as_device.hpp"

#include <tbb/task_arena.h>

#include "heddle/error.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace detail {

namespace {
struct entered_call {
  ledger& books;
  ~entered_call() { books.leave_call(); }
};
}  // namespace

void enter_arena(scheduler_core& core, int id, void (*call)(void*), void* argument) {
  refuse_in_forked_child("as_device");
  auto& device = core.at(id);
  if (!core.group.books.enter_call(core.called_from_inside())) {
    throw scheduler_stopped(
        "as_device on a scheduler that is closed: call it before close(), or inside items");
  }
  const entered_call counted{core.group.books};  // join() waits for it
  device.arena().execute([&] { tbb::this_task_arena::isolate([&] { call(argument); }); });
}

}  // namespace detail

device_guard::device_guard(scheduler& s, int id) {
  detail::refuse_in_forked_child("device_guard");
  auto& device = s.core().at(id);
  detail::push_binding(device.identity(), detail::binding_kind::guard);
  detail::current().top->entered = s.core().group.seam->enter(device.stream(0).device);
}

device_guard::~device_guard() {
  const auto& top = *detail::current().top;
  if (top.entered) {
    const auto& group = *top.device->group;
    const auto& thread = *group.threads[static_cast<std::size_t>(top.device->index)];
    group.seam->leave(thread.stream(0).device);
  }
  detail::pop_binding();
}

}  // namespace heddle
