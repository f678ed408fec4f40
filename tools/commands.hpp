// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <heddle/device_info.hpp>

#include <iosfwd>

/// The subcommands of the heddle command. Each writes its report to `out` and returns the exit code.
namespace heddle_tool {

/// A table of the devices that a scheduler with default options would see: 0. Throws what `list_devices`
/// does.
int devices(heddle::backend use, std::ostream& out);

/// What heddle sees of this machine and its environment: 0, or 1 if something is in the way, which then
/// stands at the end with what to do about it.
int doctor(std::ostream& out);

}  // namespace heddle_tool
