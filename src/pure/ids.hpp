// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace heddle::detail {

/// The gpu ids of `count` devices: `requested` if there are any, else 0, 1, 2, …. Throws `invalid_option` if
/// their number is not `count`, if one is negative, or if one occurs twice.
std::vector<int> assign_ids(std::size_t count, const std::vector<int>& requested);

}  // namespace heddle::detail
