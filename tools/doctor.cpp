// SPDX-License-Identifier: Apache-2.0
#include <heddle/error.hpp>
#include <heddle/machine.hpp>

#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "table.hpp"

namespace heddle_tool {
namespace {

std::string backend_names(const std::vector<heddle::backend>& backends) {
  std::string names;
  for (const heddle::backend b : backends) names += (names.empty() ? "" : ", ") + std::string(to_string(b));
  return names;
}

std::string core_line(const heddle::machine_report& m) {
  std::string quota = "no quota";
  if (m.quota_cores) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", *m.quota_cores);
    quota = "a quota of " + std::string(text);
  }
  return std::to_string(m.cores) + " (" + std::to_string(m.affinity_cores) + " by affinity, " + quota + ")";
}

std::string numa_lines(const heddle::machine_report& m, const std::string& indent) {
  std::string text;
  for (const auto& n : m.numa_nodes) {
    const std::string name = n.node ? "node " + std::to_string(*n.node) : "node unknown";
    text += (text.empty() ? "" : "\n" + indent) + name + ": CPUs " + readable_list(n.cpus);
  }
  return text;
}

// Asks CUDA, which makes no context. "CUDA devices were asked for, but …; or use …" is about a request.
std::string cuda_line() {
  try {
    const auto all = heddle::list_devices(heddle::backend::cuda);
    return std::to_string(all.size()) + (all.size() == 1 ? " GPU" : " GPUs");
  } catch (const heddle::error& e) {
    std::string why = e.what();
    const std::string before = "asked for, but ";
    if (const auto at = why.find(before); at != std::string::npos) why = why.substr(at + before.size());
    return why.substr(0, why.find("; or use "));
  }
}

std::vector<std::string> problems(const heddle::machine_report& m) {
  std::vector<std::string> found;
  if (!m.options_error.empty()) found.push_back(m.options_error);
  for (const auto& u : m.unknown) {
    found.push_back(u.name + " is set and has no effect: " +
                    (u.closest.empty() ? "heddle reads no such variable; unset it"
                                       : "heddle reads no such variable; did you mean " + u.closest + "?"));
  }
  try {
    static_cast<void>(heddle::list_devices());
  } catch (const heddle::error& e) {
    if (e.what() != m.options_error) found.push_back(e.what());
  }
  return found;
}

}  // namespace

int doctor(std::ostream& out) {
  const heddle::machine_report m = heddle::describe_machine();
  const std::string indent(11, ' ');
  out << "heddle     " << m.version << "\n"
      << "backends   " << backend_names(m.backends) << "\n"
      << "CUDA       " << cuda_line() << "\n"
      << "oneTBB     " << m.tbb_version << "\n"
      << "cores      " << core_line(m) << "\n"
      << "NUMA       " << numa_lines(m, indent) << "\n"
      << "variables  ";
  if (m.variables.empty()) out << "none set\n";
  for (std::size_t i = 0; i < m.variables.size(); ++i) {
    out << (i == 0 ? "" : indent) << m.variables[i].name << "=" << m.variables[i].value << "\n";
  }
  out << "fork       a child by fork of a process that made a scheduler gets `forked_process` from every "
         "call:\n"
      << indent << "fork first, or start the child by exec\n";
  const std::vector<std::string> found = problems(m);
  if (!found.empty()) out << "\n";
  for (const std::string& problem : found) out << "problem: " << problem << "\n";
  return found.empty() ? 0 : 1;
}

}  // namespace heddle_tool
