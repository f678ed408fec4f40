// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The CPUs of one NUMA node that this process may use.
struct numa_node {
  std::optional<int> node;  ///< the system's number; empty where the machine does not tell
  std::vector<int> cpus;    ///< logical CPUs, ascending
  friend bool operator==(const numa_node&, const numa_node&) = default;
};

/// A list of the kernel's kind, "0-3,8,10-11", ascending and without repeats; an empty list for an empty
/// text. Empty optional if it is not such a list: signs, words, ranges that run down, numbers of 2^20 and
/// above.
std::optional<std::vector<int>> parse_cpulist(std::string_view text);

/// The NUMA nodes that have some of the `allowed` CPUs, in the system's order. One node without a number,
/// with all of `allowed`, if the folder is missing, anything in it cannot be read, or an allowed CPU is in no
/// node. `root` is the folder that holds sys. Never empty; throws only std::bad_alloc.
std::vector<numa_node> numa_nodes(const std::vector<int>& allowed, const std::filesystem::path& root);
/// The same of this machine, whose folder is read at the first call only.
std::vector<numa_node> numa_nodes(const std::vector<int>& allowed);

}  // namespace heddle::detail
