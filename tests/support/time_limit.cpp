// SPDX-License-Identifier: Apache-2.0
// A test that hangs ends its process, which first says on standard error where each of its threads is. Each
// program that is linked with this has the limit: HEDDLE_TEST_LIMIT_S seconds for one test; 100 by default,
// 0 for none.
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace heddle::test {
namespace {
// Of the timer, and asks a thread where it is. Not SIGALRM, which shall kill a child that hangs; and one of
// those that the thread sanitizer does not put off.
constexpr int ask = SIGSYS;

// For the signal handler, which may not allocate.
char running[256];  // the test; written while the timer is off
std::atomic<int> answers{0};

template <class... Text>
void say(const Text&... text) {
  static_cast<void>(((::write(STDERR_FILENO, text, std::strlen(text)) >= 0) && ...));
}

void say_thread(pid_t thread, const char* what) {
  char number[16] = {};
  std::to_chars(number, number + sizeof number - 1, thread);
  say("thread ", number, " ", what, "\n");
}

void answer() {
  char name[17] = {};
  ::prctl(PR_GET_NAME, name);
  say_thread(::gettid(), name);
  void* frames[100];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 100), STDERR_FILENO);
  ++answers;
}

void ask_and_wait(pid_t thread) {
  const int before = answers.load();
  ::tgkill(::getpid(), thread, ask);
  for (int ms = 0; ms < 5000 && answers.load() == before; ++ms) ::usleep(1000);
  if (answers.load() == before) say_thread(thread, "does not answer");
}

void ask_all_others() {
  const int folder = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  alignas(dirent64) char entries[4096];
  for (ssize_t size = 0; (size = ::getdents64(folder, entries, sizeof entries)) > 0;) {
    for (const char* at = entries; at < entries + size;) {
      const auto& entry = *reinterpret_cast<const dirent64*>(at);
      const pid_t thread = std::atoi(entry.d_name);  // 0: the folder and its parent
      if (thread != 0 && thread != ::gettid()) ask_and_wait(thread);
      at += entry.d_reclen;
    }
  }
}

void on_signal(int, siginfo_t* info, void*) {
  if (info->si_code != SI_TIMER) return answer();
  ::alarm(60);  // should even this hang
  say("\n", running, " has reached its limit (HEDDLE_TEST_LIMIT_S). Where each thread is:\n");
  answer();
  ask_all_others();
  std::abort();
}

class time_limit final : public testing::EmptyTestEventListener {
 public:
  explicit time_limit(int seconds) : seconds_(seconds) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(ask, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = ask;
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);  // no child inherits it
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // the first call loads a library
  }

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    std::snprintf(running, sizeof running, "%s.%s", test.test_suite_name(), test.name());
    set(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { set(0); }
  void set(int seconds) {
    const itimerspec when{{}, {seconds, 0}};
    ::timer_settime(timer_, 0, &when, nullptr);
  }

  const int seconds_;
  timer_t timer_{};
};

// Before main(), and out of the environment: heddle would say that it does not know the variable.
const bool installed = [] {
  const char* const asked = std::getenv("HEDDLE_TEST_LIMIT_S");
  const int seconds = asked != nullptr ? std::atoi(asked) : 100;
  ::unsetenv("HEDDLE_TEST_LIMIT_S");
  if (seconds > 0) testing::UnitTest::GetInstance()->listeners().Append(new time_limit(seconds));
  return true;
}();

}  // namespace
}  // namespace heddle::test
