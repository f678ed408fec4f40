// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace heddle_tool {

/// Rows of equal length, the first of them the headings; columns as wide as their longest cell.
void print_table(const std::vector<std::vector<std::string>>& rows, std::ostream& out);

/// "79.6 GiB", "512 B"; "no cap" for 0.
std::string readable_bytes(std::size_t bytes);

/// "0-3,8" for {0, 1, 2, 3, 8}; the numbers ascend.
std::string readable_list(const std::vector<int>& numbers);

}  // namespace heddle_tool
