// SPDX-License-Identifier: Apache-2.0
#include "work/current.hpp"

#include <string>

#include "heddle/error.hpp"
#include "heddle/this_device.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

namespace {
constinit thread_local thread_state state;
}

thread_state& current() noexcept { return state; }

void push_binding(const bound_device& device, binding_kind kind) {
  state.top = new binding{&device, kind, state.top};
}

void pop_binding() noexcept {
  binding* const gone = state.top;
  state.top = gone->previous;
  delete gone;
}

const bound_device* bound() noexcept { return state.top != nullptr ? state.top->device : nullptr; }

namespace {

// A guard says for whom the thread acts, not what the thread is.
bool is_a(binding_kind kind) noexcept {
  const binding* each = state.top;
  while (each != nullptr && each->kind == binding_kind::guard) each = each->previous;
  return each != nullptr && each->kind == kind;
}

}  // namespace

bool on_own_device_thread() noexcept { return is_a(binding_kind::device_thread); }

bool on_arena_thread() noexcept { return is_a(binding_kind::arena); }

}  // namespace heddle::detail

namespace heddle::this_device {

int id() { return info().id; }

std::optional<int> try_id() noexcept {
  const auto* const device = detail::bound();
  if (device == nullptr || detail::is_forked_child()) return std::nullopt;
  return device->info.id;
}

const device_info& info() {
  detail::refuse_in_forked_child("this_device");
  const auto* const device = detail::bound();
  if (device == nullptr) {
    throw not_on_a_device(
        "this_device was asked on a thread that acts for no device: call it inside an item, in the arena of "
        "a device, or "
        "inside as_device(scheduler, id, f)");
  }
  return device->info;
}

}  // namespace heddle::this_device
