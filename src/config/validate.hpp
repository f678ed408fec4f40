// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "heddle/options.hpp"

namespace heddle::detail {

/// Throws `invalid_option`, which names the member, its value and what it takes, unless every member of
/// `options` is one that a scheduler can be made with. Whether the devices exist is not looked at, nor
/// whether there are as many ids as devices.
void validate(const scheduler_options& options);

}  // namespace heddle::detail
