// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "heddle/scheduler.hpp"

namespace heddle {

namespace detail {
void enter_arena(scheduler_core&, int id, void (*call)(void*), void* argument);
}

/// Enters the arena of a device for one call: inside `f` the thread acts for the device, and so does every
/// TBB task that `f` starts. Returns what `f` returns and throws what it throws; afterwards the thread is
/// what it was. Where all slots of the arena are taken, `f` runs on one of its threads while this one waits.
/// Blocks for the call. `f` may not wait for unfinished items. Any thread. Throws `invalid_option` for an
/// unknown id, `scheduler_stopped` once the scheduler is closed; a call that has begun counts as running:
/// join() waits for it, and it may submit.
template <class F>
auto as_device(scheduler& s, int id, F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<result>) {
    auto call = [&f] { f(); };
    detail::enter_arena(
        s.core(), id, [](void* it) { (*static_cast<decltype(call)*>(it))(); }, &call);
  } else {
    static_assert(!std::is_reference_v<result>,
                  "as_device returns values: return a pointer instead of a reference");
    std::optional<result> value;
    auto call = [&] { value.emplace(f()); };
    detail::enter_arena(
        s.core(), id, [](void* it) { (*static_cast<decltype(call)*>(it))(); }, &call);
    return std::move(*value);
  }
}

/// Binds the calling thread, and no TBB task that it starts, to a device for a scope. Guards nest and end in
/// reverse order. A guard may not live across a co_await, nor longer than the scheduler. Never blocks. Throws
/// `invalid_option` for an unknown id.
class device_guard {
 public:
  device_guard(scheduler& s, int id);
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard();
};

}  // namespace heddle
