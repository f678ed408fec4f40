// SPDX-License-Identifier: Apache-2.0
#include "driver/numa_binding.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "config/affinity.hpp"
#include "config/numa.hpp"

namespace heddle::detail {

// Hard to get, easy to do without.
void bind_to_numa_node(int node) {
  for (const auto& each : numa_nodes(allowed_cpus())) {
    if (each.node != node || each.cpus.empty()) continue;
    const int highest = *std::max_element(each.cpus.begin(), each.cpus.end());
    cpu_set_t* const mask = CPU_ALLOC(static_cast<std::size_t>(highest) + 1);
    if (mask == nullptr) return;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(highest) + 1);
    CPU_ZERO_S(bytes, mask);
    for (const int cpu : each.cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
    ::sched_setaffinity(0, bytes, mask);
    CPU_FREE(mask);
  }
}

// By the system call: libnuma would be one more package for one call.
numa_memory_preference::numa_memory_preference(int node) noexcept {
  constexpr int bits = sizeof(unsigned long) * CHAR_BIT;
  if (node < 0 || node >= bits) return;
  int before = MPOL_DEFAULT;
  if (::syscall(SYS_get_mempolicy, &before, nullptr, 0, nullptr, 0) != 0 || before != MPOL_DEFAULT) return;
  const unsigned long mask = 1ul << node;
  set_ = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, bits + 1) == 0;
}

numa_memory_preference::~numa_memory_preference() {
  if (set_) ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
}

}  // namespace heddle::detail
