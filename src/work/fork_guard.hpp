// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <source_location>

namespace heddle::detail {

/// Remembers that this process has made a scheduler, where, and who it is. Any thread; the first caller wins.
void remember_this_process(const std::source_location& where);

/// A byte that is 1 in the process that made a scheduler and 0 in its children; null before the first
/// scheduler. Release publishes who made it.
inline constinit std::atomic<const volatile unsigned char*> fork_witness{nullptr};

/// Whether this process is a child, by fork or clone, of one that made a scheduler. Costs two loads.
inline bool is_forked_child() noexcept {
  const auto* const seen = fork_witness.load(std::memory_order_acquire);
  return seen != nullptr && *seen == 0;
}

[[noreturn]] void refuse_forked_child(const char* call);

/// Throws `forked_process` in such a child, which names `call`. Comes before any lock in every public call.
inline void refuse_in_forked_child(const char* call) {
  if (is_forked_child()) refuse_forked_child(call);
}

}  // namespace heddle::detail
