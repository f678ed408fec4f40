// SPDX-License-Identifier: Apache-2.0
#include "config/numa.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "config/number.hpp"
#include "config/text.hpp"

namespace heddle::detail {
namespace {

std::optional<std::vector<int>> read_list(const std::filesystem::path& file) {
  const auto text = small_file(file);
  return text ? parse_cpulist(*text) : std::nullopt;
}

// All CPUs of all nodes. Empty as soon as one file of the system does not make sense: half a map would bind
// threads to wrong nodes.
std::vector<numa_node> read_map(const std::filesystem::path& root) {
  const auto folder = root / "sys/devices/system/node";
  const auto online = read_list(folder / "online");
  if (!online) return {};
  std::vector<numa_node> nodes;
  for (const int node : *online) {
    auto cpus = read_list(folder / ("node" + std::to_string(node)) / "cpulist");
    if (!cpus) return {};
    nodes.push_back({node, std::move(*cpus)});
  }
  return nodes;
}

std::vector<numa_node> nodes_within(std::vector<int> allowed, const std::vector<numa_node>& map) {
  std::vector<numa_node> nodes;
  std::sort(allowed.begin(), allowed.end());
  std::size_t covered = 0;
  for (const auto& [node, cpus] : map) {
    std::vector<int> usable;
    std::set_intersection(cpus.begin(), cpus.end(), allowed.begin(), allowed.end(),
                          std::back_inserter(usable));
    covered += usable.size();
    if (!usable.empty()) nodes.push_back({node, std::move(usable)});
  }
  if (covered != allowed.size() || nodes.empty()) return {{std::nullopt, std::move(allowed)}};
  return nodes;
}

}  // namespace

std::optional<std::vector<int>> parse_cpulist(std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 20;  // a damaged "0-4000000000" must not fill the memory
  std::vector<int> cpus;
  text = trimmed(text);
  if (text.empty()) return cpus;
  for (const std::string_view part : pieces(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = whole_number<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || static_cast<std::size_t>(*last) >= most)
      return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (cpus.size() > most) return std::nullopt;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::vector<numa_node> numa_nodes(const std::vector<int>& allowed, const std::filesystem::path& root) {
  return nodes_within(allowed, read_map(root));
}

std::vector<numa_node> numa_nodes(const std::vector<int>& allowed) {
  static const std::vector<numa_node> map = read_map("/");
  return nodes_within(allowed, map);
}

}  // namespace heddle::detail
