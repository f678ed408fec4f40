// SPDX-License-Identifier: Apache-2.0
// Asks this machine's GPU what the documentation of CUDA leaves open, and what heddle's double of the CUDA
// runtime had to guess.
//
//   gpu_facts                            every question; a line "question | answer" for each
//   gpu_facts --ask NAME                 one question, in this process
//   gpu_facts --plant none|write|race    a kernel without or with a bug, for compute-sanitizer to find
//
// Each question has a process of its own, since a fault spoils the whole process, and a time limit. Exit
// code: 0 all questions were answered, 1 some were not, 2 the arguments are bad, 77 there is no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

constexpr unsigned seconds_for_each = 20;
constexpr int no_gpu = 77;

std::vector<question> all_questions() {
  std::vector<question> all;
  for (const auto& part : {fault_questions(), stream_questions(), memory_questions(), cost_questions(),
                           context_questions(), process_questions()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// The answer, and whether it is one.
std::pair<std::string, bool> ask_child(const question& asked) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {"not answered: no pipe", false};
  const pid_t child = ::fork();
  if (child < 0) return {"not answered: no process", false};
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::alarm(seconds_for_each);  // outlasts exec
    ::execl("/proc/self/exe", "gpu_facts", "--ask", asked.name, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string answer;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  for (char& c : answer) {
    if (c == '\n' || c == '|') c = ' ';
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return {answer.empty() ? "nothing was said" : answer, true};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return {answer, false};
  answer += answer.empty() ? "" : "; ";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return {answer + "not answered to the end: stopped after " + std::to_string(seconds_for_each) + " s",
            false};
  }
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  return {answer + "not answered to the end: the process ended with " + how, false};
}

/// In a process of its own too, so that this one never starts CUDA.
int gpus() {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    int count = 0;
    ::_exit(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int ask_all() {
  if (gpus() == 0) {
    std::fprintf(stderr, "gpu_facts: there is no GPU\n");
    return no_gpu;
  }
  bool complete = true;
  for (const question& each : all_questions()) {
    const auto [answer, answered] = ask_child(each);
    std::printf("%s | %s\n", each.text, answer.c_str());
    std::fflush(stdout);
    complete = complete && answered;
  }
  return complete ? 0 : 1;
}

int plant(const std::string& what) {
  constexpr int count = 64;
  void* memory = nullptr;
  must(cudaMalloc(&memory, count * sizeof(int)), "cudaMalloc");
  const auto numbers = static_cast<int*>(memory);
  if (what == "write") {
    must(launch_past_the_end(numbers, count, nullptr), "launch");
  } else if (what == "race") {
    must(launch_race(numbers, nullptr), "launch");
  } else {
    must(launch_store(numbers, 1, nullptr), "launch");
  }
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaFree(memory), "cudaFree");
  return 0;
}

}  // namespace
}  // namespace heddle::facts

int main(int argc, char** argv) {
  using namespace heddle::facts;
  if (argc == 1) return ask_all();
  if (argc == 3 && std::strcmp(argv[1], "--plant") == 0) return plant(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--ask") == 0) {
    for (const question& each : all_questions()) {
      if (std::strcmp(each.name, argv[2]) != 0) continue;
      each.answer();
      return 0;
    }
    std::fprintf(stderr, "gpu_facts: there is no question %s\n", argv[2]);
  } else {
    std::fprintf(stderr, "gpu_facts: takes --ask NAME, --plant none|write|race, or nothing\n");
  }
  return 2;
}
