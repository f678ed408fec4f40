// SPDX-License-Identifier: Apache-2.0
#include "tests/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace image_batch {
namespace {

struct channel {
  int read_end = -1;
  int write_end = -1;
};

channel open_channel(bool terminal) {
  channel result;
  if (terminal) {
    if (::openpty(&result.read_end, &result.write_end, nullptr, nullptr, nullptr) != 0) {
      throw std::runtime_error("no pseudo terminal");
    }
    return result;
  }
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  return {ends[0], ends[1]};
}

[[noreturn]] void become_program(std::vector<char*> arguments, const run_options& options, const channel& out,
                                 const channel& err) {
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  for (const int fd : {out.read_end, out.write_end, err.read_end, err.write_end}) ::close(fd);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.file_size_limit) {
    const rlimit limit{*options.file_size_limit, *options.file_size_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  constexpr unsigned nobody = 65534;
  if (options.as_nobody && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(126);
  ::alarm(120);  // ends a program that hangs
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

// Whether more may come. A terminal whose other side is gone gives an error instead of an end.
bool append_available(int from, std::string& to) {
  std::array<char, 4096> buffer;
  const auto got = ::read(from, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  to.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

}  // namespace

run_result run_image_batch(const std::vector<std::string>& arguments, const run_options& options) {
  std::string program = IMAGE_BATCH_PROGRAM;
  std::vector<std::string> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  const auto out = open_channel(false);
  const auto err = open_channel(options.terminal);
  const pid_t child = ::fork();
  if (child == 0) become_program(std::move(pointers), options, out, err);
  ::close(out.write_end);
  ::close(err.write_end);

  run_result result;
  std::array<pollfd, 2> sources{{{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}}};
  bool signalled = options.signal_at_first_line == 0;
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    ::poll(sources.data(), sources.size(), -1);
    if (sources[0].revents != 0 && !append_available(out.read_end, result.out)) sources[0].fd = -1;
    if (sources[1].revents != 0 && !append_available(err.read_end, result.err)) sources[1].fd = -1;
    if (!signalled && !result.out.empty()) {
      ::kill(child, options.signal_at_first_line);
      signalled = true;
    }
  }
  ::close(out.read_end);
  ::close(err.read_end);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

temporary_folder::temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "image_batch-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
  std::filesystem::permissions(path_, std::filesystem::perms(0777));
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace image_batch
