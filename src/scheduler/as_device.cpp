// SPDX-License-Identifier: Apache-2.0
#include "heddle/as_device.hpp"

#include <tbb/task_arena.h>

#include "scheduler/scheduler_core.hpp"
#include "work/current.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

namespace detail {

void enter_arena(scheduler_core& core, int id, void (*call)(void*), void* argument) {
  refuse_in_forked_child("as_device");
  core.at(id).arena().execute([&] { tbb::this_task_arena::isolate([&] { call(argument); }); });
}

}  // namespace detail

device_guard::device_guard(scheduler& s, int id) {
  detail::refuse_in_forked_child("device_guard");
  detail::push_binding(s.core().at(id).identity(), detail::binding_kind::guard);
}

device_guard::~device_guard() { detail::pop_binding(); }

}  // namespace heddle
