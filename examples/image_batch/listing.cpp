// SPDX-License-Identifier: Apache-2.0
#include "listing.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <system_error>

namespace image_batch {

namespace fs = std::filesystem;

std::vector<fs::path> output_names(const std::vector<fs::path>& names, const fs::path& reserved) {
  std::set<std::string> taken{reserved.native()};
  std::vector<fs::path> result;
  result.reserve(names.size());
  for (const auto& name : names) {
    std::string wanted = name.stem().native() + ".png";
    for (int k = 1; !taken.insert(wanted).second; ++k) {
      wanted = name.native() + (k == 1 ? "" : "-" + std::to_string(k)) + ".png";
    }
    result.emplace_back(wanted);
  }
  return result;
}

bool same_file(const fs::path& a, const fs::path& b) noexcept {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) && !ignored;
}

std::vector<picture_task> list_folder(const fs::path& folder, const fs::path& out, const fs::path& reserved) {
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    auto name = entry.path().filename();
    if (name.native().front() != '.' && !same_file(entry.path(), out)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.native() < b.native(); });
  auto outputs = output_names(names, reserved);
  std::vector<picture_task> tasks;
  tasks.reserve(names.size());
  for (std::size_t k = 0; k < names.size(); ++k) tasks.push_back({folder / names[k], std::move(outputs[k])});
  return tasks;
}

}  // namespace image_batch
