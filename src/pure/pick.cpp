// SPDX-License-Identifier: Apache-2.0
#include "pure/pick.hpp"

namespace heddle::detail {

std::optional<std::size_t> pick(std::span<const queue_head> heads, std::uint64_t starts) noexcept {
  if (heads.empty()) return std::nullopt;
  const bool oldest_only = starts % fair_every == fair_every - 1;
  std::size_t best = 0;
  for (std::size_t i = 1; i < heads.size(); ++i) {
    const queue_head& a = heads[i];
    const queue_head& b = heads[best];
    const bool same_rank = oldest_only || a.priority == b.priority;
    if (same_rank ? a.ticket < b.ticket : a.priority > b.priority) best = i;
  }
  return best;
}

}  // namespace heddle::detail
