// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "heddle/detail/array.hpp"

namespace heddle::detail {

/// Fetches the halos of all blocks, if what they hold is stale, as a step behind all earlier ones.
void refresh_halos(const std::shared_ptr<array_core>&);

}  // namespace heddle::detail
