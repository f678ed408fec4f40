// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "config/cgroup.hpp"

namespace heddle::detail {

/// How many cores this process may keep busy, and why.
struct cpu_budget {
  int cores = 1;                  ///< what to plan for; never less than 1
  int affinity = 0;               ///< CPUs that the calling thread may run on
  std::vector<cpu_quota> quotas;  ///< limits of control groups; none: no limit
};

/// The least of `affinity` and every quota, each rounded up to whole cores; at least 1 even where every
/// source says 0, which happens: a count of cores is a hint.
int cores_from(int affinity, std::span<const cpu_quota> quotas) noexcept;

/// The budget of this process. `root` is the folder that holds proc and sys. Any thread; reads files, so not
/// for a hot path; throws only std::bad_alloc.
cpu_budget read_cpu_budget(const std::filesystem::path& root = "/");

/// The cores of this process's budget: the calling thread's CPUs as they are, the limits of control groups as
/// they were at the first call, since reading them takes as long as starting some threads. Any thread.
int usable_cores();

/// The same for so many allowed CPUs; for tests.
cpu_budget read_cpu_budget(const std::filesystem::path& root, int affinity);

}  // namespace heddle::detail
