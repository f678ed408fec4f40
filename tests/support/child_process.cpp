// SPDX-License-Identifier: Apache-2.0
#include "support/child_process.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace heddle::test {

namespace {

[[noreturn]] void be_the_child(int out, const std::function<std::string()>& body) {
  ::alarm(10);  // a child may hang in a lock that nobody will ever release
  std::string said;
  try {
    said = body();
  } catch (...) {
    said = "an exception left the body";
  }
  const auto written = ::write(out, said.data(), said.size());
  ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
}

pid_t make_child(spawn how) {
  if (how == spawn::fork) return ::fork();
  return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

std::string in_child(spawn how, const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = make_child(how);
  if (child < 0) throw std::runtime_error("no child process could be made");
  if (child == 0) be_the_child(ends[1], body);
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (;;) {
    const auto got = ::read(ends[0], buffer, sizeof buffer);
    if (got <= 0) break;
    said.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    said += signal == SIGALRM ? "the child hung" : "the child died by signal " + std::to_string(signal);
  } else if (WEXITSTATUS(status) != 0) {
    said += "the child ended with code " + std::to_string(WEXITSTATUS(status));
  }
  return said;
}

}  // namespace heddle::test
