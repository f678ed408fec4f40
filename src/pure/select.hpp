// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heddle/device_info.hpp"

namespace heddle::detail {

/// Indices into `all` of the devices that `wanted` names, in the order of `wanted`; all of them, in their own
/// order, if it is empty. An entry is one of
///   "0"               the ordinal, where only one device has it,
///   "host:1"          backend and ordinal,
///   "GPU-8932"        a uuid, or a beginning of one that only one device has,
///   "0000:3b:00.0"    a PCI bus id; its domain may be shorter, longer or absent (0).
/// Upper and lower case are the same. Throws `invalid_option`, which lists the devices there are, for an
/// entry that is empty, names no device, several devices, or a device named before.
std::vector<std::size_t> select_devices(const std::vector<device_info>& all,
                                        const std::vector<std::string>& wanted);

}  // namespace heddle::detail
