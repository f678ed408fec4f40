// SPDX-License-Identifier: Apache-2.0
#include "heddle/machine.hpp"

#include <tbb/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "config/affinity.hpp"
#include "config/cpu_budget.hpp"
#include "config/environment.hpp"
#include "config/numa.hpp"
#include "config/unknown_variables.hpp"
#include "heddle/options.hpp"
#include "heddle/version.hpp"

namespace heddle {

machine_report describe_machine() {
  machine_report report;
  report.version = std::to_string(HEDDLE_VERSION_MAJOR) + "." + std::to_string(HEDDLE_VERSION_MINOR) + "." +
                   std::to_string(HEDDLE_VERSION_PATCH);
  report.backends = {backend::host};
  if (HEDDLE_WITH_CUDA) report.backends.push_back(backend::cuda);
  report.tbb_version = TBB_runtime_version();
  const detail::cpu_budget budget = detail::read_cpu_budget();
  report.cores = budget.cores;
  report.affinity_cores = budget.affinity;
  for (const detail::cpu_quota& q : budget.quotas) {
    const double cores = static_cast<double>(q.quota_us) / static_cast<double>(q.period_us);
    report.quota_cores = std::min(cores, report.quota_cores.value_or(cores));
  }
  for (detail::numa_node& n : detail::numa_nodes(detail::allowed_cpus())) {
    report.numa_nodes.push_back({n.node, std::move(n.cpus)});
  }
  for (const std::string& name : detail::known_variables()) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && *value != '\0') report.variables.push_back({name, value});
  }
  report.unknown = detail::unknown_variables(environ);
  try {
    static_cast<void>(scheduler_options::from_environment());
  } catch (const invalid_option& refusal) {
    report.options_error = refusal.what();
  }
  return report;
}

}  // namespace heddle
