// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Keeps pinned host memory for its next use, by NUMA node and size: pinning costs milliseconds and stops the
/// device. Sizes are rounded up to powers of two, of 4 KiB at least. Any thread.
class pinned_pool {
 public:
  /// By NUMA node and size.
  using pieces = std::map<std::pair<int, std::size_t>, std::vector<void*>>;

  /// A piece of at least `bytes` bytes that was given back; null if there is none.
  void* take(int node, std::size_t bytes);
  void give_back(int node, void* memory, std::size_t bytes);
  /// All that is kept, for its owner to free.
  pieces clear() noexcept;
  /// What to allocate for `bytes`.
  static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  std::mutex mutex_;
  pieces free_;  // guarded by mutex_
};

}  // namespace heddle::detail
