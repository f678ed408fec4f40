// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "heddle/detail/loop.hpp"

namespace heddle::detail {

/// Loops each part of which is put on the stream of an item: on devices with memory of their own, and those
/// that want a device_context.
void run_in_items(scheduler_core&, const loop_request&, const loop_options&);
future<void> start_in_items(scheduler_core&, const loop_request&, const loop_options&,
                            std::shared_ptr<void> owner);

}  // namespace heddle::detail
