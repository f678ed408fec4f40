// SPDX-License-Identifier: Apache-2.0
// A process of one's own: asked and answered by lines, and ended by its process id.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "usage.hpp"

extern char** environ;

namespace bench {

class child {
 public:
  /// The program is looked for in PATH where it has no slash. Throws std::system_error where there is none.
  explicit child(std::vector<std::string> words) {
    signal(SIGPIPE, SIG_IGN);  // a child that has ended is found out by its missing answer
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (auto& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    const int error = posix_spawnp(&pid_, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    close(to[0]), close(from[1]);
    asks_ = fdopen(to[1], "w"), answers_ = fdopen(from[0], "r");
    if (error != 0) {
      close_pipes();
      throw std::system_error(error, std::generic_category(), words[0]);
    }
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  /// Waits until it has ended, which it does where it finds the end of its standard input.
  ~child() {
    close_pipes();
    waitpid(pid_, nullptr, 0);
  }

  /// Sends a line, and waits for the answer to it. Throws std::runtime_error if the child has ended instead.
  std::string ask(const std::string& line) {
    std::fprintf(asks_, "%s\n", line.c_str());
    std::fflush(asks_);
    return answer();
  }
  /// The next line that it prints.
  std::string answer() {
    char line[256];
    if (std::fgets(line, sizeof line, answers_) == nullptr) throw std::runtime_error("a child process ended");
    return line;
  }
  void end() { kill(pid_, SIGTERM); }
  /// Its CPU time until now, in seconds, without that of its own children.
  double cpu() const {
    clockid_t its{};
    return clock_getcpuclockid(pid_, &its) == 0 ? cpu_seconds(its) : 0;
  }

 private:
  void close_pipes() { std::fclose(asks_), std::fclose(answers_); }

  pid_t pid_ = 0;
  std::FILE *asks_ = nullptr, *answers_ = nullptr;
};

/// Whether this process was started as `PROGRAM --burn`. If so it has computed until it was ended; or, should
/// the one who started it be gone, until that or for ten minutes.
inline bool burned(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != "--burn") return false;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto began = clock::now();
  for (volatile unsigned spins = 0; seconds_since(began) < 600;) spins = spins + 1;
  return true;
}

/// Another process of this program, which keeps a core busy.
struct busy_process : child {
  busy_process() : child({"/proc/self/exe", "--burn"}) {}
  ~busy_process() { end(); }
};

}  // namespace bench
