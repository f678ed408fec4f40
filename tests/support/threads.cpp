// SPDX-License-Identifier: Apache-2.0
#include "support/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace heddle::test {

std::vector<std::string> thread_names() {
  std::vector<std::string> names;
  std::error_code ignored;  // threads end while we look
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name)) names.push_back(name);
  }
  return names;
}

int device_threads() {
  const auto names = thread_names();
  return static_cast<int>(std::count_if(names.begin(), names.end(),
                                        [](const std::string& name) { return name.starts_with("heddle/"); }));
}

int sleeping_device_threads() {
  int asleep = 0;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (!std::getline(file, name) || !name.starts_with("heddle/")) continue;
    if (sleeps(static_cast<pid_t>(std::stol(task.path().filename())))) ++asleep;
  }
  return asleep;
}

pid_t this_thread_number() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'S';
}

}  // namespace heddle::test
