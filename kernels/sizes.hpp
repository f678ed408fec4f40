// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::kernels {

/// Throws `invalid_option`, which names function and range, unless `got` is `wanted`.
void check_size(const char* function, const char* range, std::size_t got, std::int64_t wanted);

}  // namespace heddle::kernels
