// SPDX-License-Identifier: Apache-2.0
#include "config/affinity.hpp"

#include <cerrno>
#include <memory>

namespace heddle::detail {
namespace {

struct free_mask {
  void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
};

}  // namespace

std::vector<int> allowed_cpus() {
  return allowed_cpus([](std::size_t bytes, cpu_set_t* mask) { return sched_getaffinity(0, bytes, mask); });
}

std::vector<int> allowed_cpus(const affinity_query& query) {
  // The kernel refuses with EINVAL a mask smaller than its own, whose size it does not tell.
  constexpr std::size_t most = std::size_t{1} << 20;
  for (std::size_t cpus = CPU_SETSIZE; cpus <= most; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, free_mask> mask(CPU_ALLOC(cpus));
    if (!mask) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, mask.get());
    if (query(bytes, mask.get()) == 0) {
      std::vector<int> allowed;
      for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.get())) allowed.push_back(static_cast<int>(cpu));
      }
      return allowed;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

}  // namespace heddle::detail
