// SPDX-License-Identifier: Apache-2.0
#include "work/current.hpp"

#include <string>

#include "heddle/error.hpp"
#include "heddle/this_device.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

namespace {
constinit thread_local thread_state this_thread;
}

thread_state& current() noexcept { return this_thread; }

namespace {

// Few bindings nest, and a short loop should not wait for memory: the first ones lie ready. Trivially
// destructible, as the state is.
struct ready_bindings {
  static constexpr int count = 8;
  binding places[count];
  int used = 0;
};
constinit thread_local ready_bindings ready{};

}  // namespace

void push_binding(const bound_device& device, binding_kind kind) {
  binding* const place = ready.used < ready_bindings::count ? &ready.places[ready.used] : new binding;
  *place = {&device, kind, this_thread.top};
  ++ready.used;
  this_thread.top = place;
}

void pop_binding() noexcept {
  binding* const gone = this_thread.top;
  this_thread.top = gone->previous;
  if (--ready.used >= ready_bindings::count) delete gone;
}

const bound_device* bound() noexcept {
  return this_thread.top != nullptr ? this_thread.top->device : nullptr;
}

namespace {

// A guard says for whom the thread acts, not what the thread is.
bool is_a(binding_kind kind) noexcept {
  const binding* each = this_thread.top;
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
