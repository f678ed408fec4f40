// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace heddle::detail {

/// Fills a mask of so many bytes as sched_getaffinity does: 0, or -1 with errno set.
using affinity_query = std::function<int(std::size_t bytes, cpu_set_t* mask)>;

/// Logical CPUs that the calling thread, and so the threads it starts, may run on; ascending. Empty if the
/// system does not tell. Handles masks of any size.
std::vector<int> allowed_cpus();

/// The same from another source; for tests.
std::vector<int> allowed_cpus(const affinity_query& query);

}  // namespace heddle::detail
