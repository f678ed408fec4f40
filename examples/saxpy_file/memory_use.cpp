// SPDX-License-Identifier: Apache-2.0
#include "saxpy_file/memory_use.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace saxpy_file {

memory_use memory_use_now() {
  memory_use found{0, 0};
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {  // such as "VmHWM:    1234 kB"
    std::istringstream words(line);
    std::string name;
    std::int64_t kilobytes = 0;
    if (!(words >> name >> kilobytes)) continue;
    if (name == "VmHWM:") found.peak = kilobytes * 1024;
    if (name == "RssFile:" || name == "RssShmem:") found.mapped_files += kilobytes * 1024;
  }
  return found;
}

}  // namespace saxpy_file
