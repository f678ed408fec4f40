// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "heddle/detail/loop.hpp"

namespace heddle::detail {

/// Loops on host devices, whose memory is the caller's.
void run_on_host(scheduler_core&, const loop_request&, const loop_options&);
future<void> start_on_host(scheduler_core&, const loop_request&, const loop_options&,
                           std::shared_ptr<void> owner);

}  // namespace heddle::detail
