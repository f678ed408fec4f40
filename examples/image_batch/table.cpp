// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace image_batch {
namespace {

bool starts_with_digit(const std::string& text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

struct column {
  std::size_t width = 0;
  bool right = true;
};

std::string padded(const std::string& text, const column& as) {
  const std::string space(as.width - text.size(), ' ');
  return as.right ? space + text : text + space;
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::vector<column> columns(rows[0].size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (const auto& row : rows) {
      columns[k].width = std::max(columns[k].width, row.at(k).size());
      if (&row != &rows[0] && !starts_with_digit(row.at(k))) columns[k].right = false;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < columns.size(); ++k) line += (k > 0 ? "  " : "") + padded(row[k], columns[k]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace image_batch
