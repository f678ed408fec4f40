// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "heddle/detail/operation.hpp"

namespace heddle::detail {

/// An object of a device_local that its device thread owns: destroyed by that thread, at the latest when it
/// ends.
struct local_object {
  std::uint64_t key;  // names the device_local that refers to it
  operation owner;
};

}  // namespace heddle::detail
