// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace heddle::detail {

/// A limit on CPU time: so many microseconds of CPU in each period.
struct cpu_quota {
  std::uint64_t quota_us = 0;
  std::uint64_t period_us = 0;
  friend bool operator==(const cpu_quota&, const cpu_quota&) = default;
};

/// The limits that the control groups of this process set, v2 (cpu.max) and v1 (cpu.cfs_quota_us), own group
/// and all its ancestors that can be seen; none where there is no limit or none can be read. `root` is the
/// folder that holds proc and sys. Reads files; throws only std::bad_alloc.
std::vector<cpu_quota> read_cpu_quotas(const std::filesystem::path& root = "/");

}  // namespace heddle::detail
