// SPDX-License-Identifier: Apache-2.0
#include "driver/pinned_pool.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace heddle::detail {

std::size_t pinned_pool::rounded(std::size_t bytes) noexcept {
  constexpr std::size_t smallest = 4096;
  constexpr std::size_t largest_power = std::numeric_limits<std::size_t>::max() / 2 + 1;
  if (bytes > largest_power) return bytes;  // no machine has it; the allocation will say so
  return std::bit_ceil(std::max(bytes, smallest));
}

void* pinned_pool::take(int node, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.find({node, rounded(bytes)});
  if (found == free_.end() || found->second.empty()) return nullptr;
  void* const memory = found->second.back();
  found->second.pop_back();
  return memory;
}

void pinned_pool::give_back(int node, void* memory, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  free_[{node, rounded(bytes)}].push_back(memory);
}

pinned_pool::pieces pinned_pool::clear() noexcept {
  pieces all;
  const std::lock_guard lock(mutex_);
  all.swap(free_);
  return all;
}

}  // namespace heddle::detail
