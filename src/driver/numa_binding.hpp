// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle::detail {

/// Moves the calling thread to the CPUs of a NUMA node that the process may use. A thread that may not be
/// moved stays where it is.
void bind_to_numa_node(int node);

/// While it lives, memory that the calling thread touches first comes from a node, where that has any left;
/// -1: from where it would in any case.
class numa_memory_preference {
 public:
  explicit numa_memory_preference(int node) noexcept;
  numa_memory_preference(const numa_memory_preference&) = delete;
  numa_memory_preference& operator=(const numa_memory_preference&) = delete;
  ~numa_memory_preference();

 private:
  bool set_ = false;
};

}  // namespace heddle::detail
