// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "heddle/device_info.hpp"

/// What the calling thread may know of the device that it acts for: on a device thread, in every TBB task of
/// a device's arena, inside `as_device`, and where a `device_guard` lives. It answers what is true of the
/// *device*; what belongs to an item comes through its `device_context`. None of these calls blocks.
namespace heddle::this_device {

/// The gpu id of the device this thread acts for. Throws `not_on_a_device` elsewhere.
int id();

/// The same; empty where the thread acts for no device.
std::optional<int> try_id() noexcept;

/// What is known of the device; valid as long as its scheduler lives. Throws `not_on_a_device` elsewhere.
const device_info& info();

}  // namespace heddle::this_device
