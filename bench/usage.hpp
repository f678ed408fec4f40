// SPDX-License-Identifier: Apache-2.0
// What this process and the whole machine have used: time of the CPU, and memory.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>

namespace bench {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// A clock of the system that counts CPU time, in seconds.
inline double cpu_seconds(clockid_t of) {
  timespec t{};
  clock_gettime(of, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU time of all threads of this process, those that have ended among them.
inline double own_cpu() { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID); }

/// CPU time of the child processes that have ended and were waited for.
inline double ended_children_cpu() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// CPU time of the calling thread.
inline double thread_cpu() { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }

/// CPU time that the whole machine has spent, in seconds; 0 where it does not say.
inline double machine_cpu() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
  stat >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen;
  return (user + nice + system + irq + soft_irq + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Memory that may still be used, in bytes.
inline double available_memory() {
  double bytes = std::numeric_limits<double>::infinity();
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    double kibibytes = 0;
    if (word == "MemAvailable:" && info >> kibibytes) bytes = 1024 * kibibytes;
  }
  double limit = 0, used = 0;  // not numbers where there is no limit
  std::ifstream most("/sys/fs/cgroup/memory.max"), now("/sys/fs/cgroup/memory.current");
  if (most >> limit && now >> used) bytes = std::min(bytes, limit - used);
  return bytes;
}

/// A line of /proc/self/status that is a size, in bytes: "VmRSS" is what lies in memory now, "VmHWM" the most
/// that ever did.
inline double own_memory(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == line + ":" && status >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

}  // namespace bench
