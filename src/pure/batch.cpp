// SPDX-License-Identifier: Apache-2.0
#include "pure/batch.hpp"

#include <algorithm>

namespace heddle::detail {

std::size_t next_batch(std::size_t last, std::chrono::nanoseconds took, std::size_t most) noexcept {
  // Taking one costs some 50 ns, so that one longer than this gains less than a twentieth.
  constexpr auto short_item = std::chrono::nanoseconds(1000);
  last = std::max<std::size_t>(last, 1);
  if (took > short_item * static_cast<long>(last)) return 1;
  return std::min(2 * last, std::max<std::size_t>(most, 1));
}

std::size_t fair_share(std::size_t waiting, std::size_t devices) noexcept {
  return std::max<std::size_t>(waiting / (2 * std::max<std::size_t>(devices, 1)), 1);
}

}  // namespace heddle::detail
