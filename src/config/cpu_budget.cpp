// SPDX-License-Identifier: Apache-2.0
#include "config/cpu_budget.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

#include "config/affinity.hpp"

namespace heddle::detail {

int cores_from(int affinity, std::span<const cpu_quota> quotas) noexcept {
  auto cores = static_cast<std::uint64_t>(std::max(affinity, 1));
  for (const cpu_quota& q : quotas) {
    if (q.period_us == 0) continue;
    const std::uint64_t whole = q.quota_us / q.period_us + (q.quota_us % q.period_us != 0);
    cores = std::min(cores, std::max<std::uint64_t>(whole, 1));
  }
  return static_cast<int>(cores);
}

namespace {
int allowed_count() {
  const auto allowed = static_cast<int>(allowed_cpus().size());
  return allowed > 0 ? allowed : static_cast<int>(std::thread::hardware_concurrency());
}
}  // namespace

cpu_budget read_cpu_budget(const std::filesystem::path& root) {
  return read_cpu_budget(root, allowed_count());
}

int usable_cores() {
  static const std::vector<cpu_quota> quotas = read_cpu_quotas();
  return cores_from(allowed_count(), quotas);
}

cpu_budget read_cpu_budget(const std::filesystem::path& root, int affinity) {
  auto quotas = read_cpu_quotas(root);
  const int cores = cores_from(affinity, quotas);
  return {cores, affinity, std::move(quotas)};
}

}  // namespace heddle::detail
