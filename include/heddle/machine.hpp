// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/device_info.hpp"

namespace heddle {

/// A variable of the environment.
struct environment_variable {
  std::string name;
  std::string value;
};

/// A variable that begins with HEDDLE_ and that heddle does not read.
struct unknown_variable {
  std::string name;
  std::string closest;  ///< the name that was probably meant; empty if none is near
};

/// What this machine and environment let heddle do. A plain value, for reports; no promise hangs on it.
struct machine_report {
  std::string version;                ///< of heddle, "0.1.0"
  std::vector<backend> backends;      ///< built into this library; never `automatic`
  std::string tbb_version;            ///< of the oneTBB that is loaded, "2021.8"
  int cores = 1;                      ///< how many heddle plans for: the least of the next two, at least 1
  int affinity_cores = 0;             ///< logical CPUs that the calling thread may run on
  std::optional<double> quota_cores;  ///< the tightest limit of a control group, in cores; empty: no limit
  struct numa {
    std::optional<int> node;  ///< empty where the machine does not tell
    std::vector<int> cpus;    ///< logical CPUs of it that the calling thread may run on
  };
  std::vector<numa> numa_nodes;                 ///< those with such CPUs; at least one
  std::vector<environment_variable> variables;  ///< set and read by heddle
  std::vector<unknown_variable> unknown;        ///< set and of no effect
  std::string options_error;  ///< what `scheduler_options::from_environment` refuses; empty: nothing
};

/// Looks at the machine and the environment. Any thread; reads files, creates no thread and no context.
/// Throws only std::bad_alloc: what cannot be read is left out.
machine_report describe_machine();

}  // namespace heddle
