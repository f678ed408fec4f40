// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "table.hpp"

namespace image_batch {
namespace {

std::string seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", std::chrono::duration<double>(time).count());
  return text;
}

std::string percent(std::size_t part, std::size_t whole) {
  return std::to_string(whole == 0 ? 0 : (100 * part + whole / 2) / whole) + " %";
}

}  // namespace

std::string device_table(const heddle::scheduler& sched, const std::map<int, std::size_t>& pictures) {
  std::size_t all = 0;
  for (const auto& [id, count] : pictures) all += count;
  const auto stats = sched.stats();
  std::vector<std::vector<std::string>> rows{{"gpu id", "device", "pictures", "items", "busy", "share"}};
  for (std::size_t k = 0; k < stats.devices.size(); ++k) {
    const auto& device = stats.devices[k];
    const auto found = pictures.find(device.id);
    const std::size_t made = found == pictures.end() ? 0 : found->second;
    rows.push_back({std::to_string(device.id), sched.devices()[k].name, std::to_string(made),
                    std::to_string(device.started), seconds(device.busy), percent(made, all)});
  }
  return table_text(rows);
}

}  // namespace image_batch
