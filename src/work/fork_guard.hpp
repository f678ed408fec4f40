// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>

namespace heddle::detail {

/// Remembers that this process has made a scheduler, where, and who it is. Any thread; the first caller wins.
void remember_this_process(const std::source_location& where);

/// Whether this process is a child, by fork or clone, of one that made a scheduler. Costs one load.
bool is_forked_child() noexcept;

/// Throws `forked_process` in such a child, which names `call`. Comes before any lock in every public call.
void refuse_in_forked_child(const char* call);

}  // namespace heddle::detail
