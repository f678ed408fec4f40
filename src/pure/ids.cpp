// SPDX-License-Identifier: Apache-2.0
#include "pure/ids.hpp"

#include <numeric>
#include <string>
#include <unordered_map>

#include "heddle/error.hpp"

namespace heddle::detail {

std::vector<int> assign_ids(std::size_t count, const std::vector<int>& requested) {
  if (requested.empty()) {
    std::vector<int> ids(count);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }
  if (requested.size() != count) {
    throw invalid_option("ids: " + std::to_string(requested.size()) + " given for " + std::to_string(count) +
                         " devices; give one id per device, or none for 0, 1, 2, …");
  }
  std::unordered_map<int, std::size_t> owner;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const std::string id = std::to_string(requested[i]);
    if (requested[i] < 0) {
      throw invalid_option("ids: id " + id + " of device " + std::to_string(i) +
                           " is negative; give 0 or a larger number");
    }
    const auto [at, fresh] = owner.emplace(requested[i], i);
    if (!fresh) {
      throw invalid_option("ids: id " + id + " is given to devices " + std::to_string(at->second) + " and " +
                           std::to_string(i) + "; give each device an id of its own");
    }
  }
  return requested;
}

}  // namespace heddle::detail
