// SPDX-License-Identifier: Apache-2.0
#include "config/unknown_variables.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "config/environment.hpp"

namespace heddle::detail {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Wagner and Fischer, one row of the table at a time.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::vector<unknown_variable> unknown_variables(const char* const* environment) {
  constexpr std::string_view prefix = "HEDDLE_";
  const std::vector<std::string> known = known_variables();
  std::vector<unknown_variable> unknown;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const std::string name(entry.substr(0, entry.find('=')));
    if (!name.starts_with(prefix) || name.starts_with("HEDDLE_CUDA") || name == "HEDDLE_REQUIRE_GPU")
      continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto closest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
      return edit_distance(name, a) < edit_distance(name, b);
    });
    // Fewer edits than half of what follows the prefix: HEDDLE_FOO is not a slip for HEDDLE_IDS.
    const std::size_t edits = edit_distance(name, *closest);
    const bool near = edits <= 3 && 2 * edits < closest->size() - prefix.size();
    unknown.push_back({name, near ? *closest : std::string()});
  }
  return unknown;
}

}  // namespace heddle::detail
