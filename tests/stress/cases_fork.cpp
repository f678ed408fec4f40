// SPDX-License-Identifier: Apache-2.0
// A child of a process that made a scheduler: every call answers at once, and the parent never notices.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heddle/heddle.hpp"
#include "stress/hosts.hpp"

extern char** environ;

namespace {

using namespace heddle::test;

constexpr unsigned limit_s = 20;  // a child that hangs is killed by its own alarm
constexpr int fine = 0;

template <class Child>
int status_of_child(Child child, pid_t (*make)() = &fork) {
  const pid_t pid = make();
  if (pid == 0) {
    alarm(limit_s);
    int failed = 99;
    try {
      failed = child();
    } catch (...) {
    }
    _exit(failed);
  }
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const heddle::forked_process&) {
    return true;
  } catch (...) {
  }
  return false;
}

// Everything that a child could call; the number of the first call that was not refused, or `fine`.
int call_everything(heddle::scheduler& sched, std::vector<heddle::future<int>>& futures) {
  int number = 0;
  int worst = fine;
  const auto expect_refused = [&](auto call) {
    ++number;
    if (!refused(call) && worst == fine) worst = number;
  };
  const auto f = [] { return 1; };
  const std::vector<int> input(4, 1);
  std::vector<int (*)()> batch(3, +f);
  expect_refused([&] { heddle::scheduler another(hosts(1)); });
  expect_refused([&] { heddle::scheduler another; });
  expect_refused([&] { auto one = sched.submit(f); });
  expect_refused([&] { auto one = sched.submit(f, heddle::route::on(0).in_arena()); });
  expect_refused([&] { auto one = sched.try_submit(f); });
  expect_refused([&] { auto all = sched.submit_batch(batch); });
  expect_refused([&] { auto all = sched.broadcast(f); });
  expect_refused([&] { sched.map([](int x) { return x; }, input); });
  expect_refused([&] {
    for (const int one : sched.imap([](int x) { return x; }, input)) static_cast<void>(one);
  });
  expect_refused([&] { sched.close(); });
  expect_refused([&] { sched.drain(); });
  expect_refused([&] { static_cast<void>(sched.drain_for(std::chrono::seconds(1))); });
  expect_refused([&] { sched.cancel(); });
  expect_refused([&] { sched.join(); });
  expect_refused([&] { sched.disable(0); });
  expect_refused([&] { sched.enable(0); });
  expect_refused([&] { static_cast<void>(sched.stats()); });
  expect_refused([&] { static_cast<void>(sched.devices()); });
  expect_refused([&] { static_cast<void>(sched.failed()); });
  expect_refused([&] { heddle::as_device(sched, 0, [] {}); });
  expect_refused([&] { const heddle::device_guard guard(sched, 0); });
  expect_refused([&] { heddle::device_local<int> one(sched, [](heddle::device_context&) { return 1; }); });
  expect_refused([&] { static_cast<void>(heddle::this_device::id()); });
  for (auto& each : futures) {
    expect_refused([&] { static_cast<void>(each.ready()); });
    expect_refused([&] { each.wait(); });
    expect_refused([&] { static_cast<void>(each.wait_for(std::chrono::seconds(1))); });
    expect_refused([&] { static_cast<void>(each.cancel()); });
    expect_refused([&] { auto next = each.then([](int x) { return x; }); });
    expect_refused([&] { static_cast<void>(each.get()); });
  }
  return worst;
}

pid_t raw_clone() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

// pytorch/pytorch#55643: what the parent remembered lies in the child. Right: every call in the child is
// refused at once, and the parent is untouched.
TEST(Fork, EveryCallInTheChildIsRefusedAtOnce) {
  for (pid_t (*const make)() : {static_cast<pid_t (*)()>(&fork), &raw_clone}) {
    on_every_machine([make](const heddle::scheduler_options& options) {
      heddle::scheduler sched(options);
      std::latch gate(1);
      std::vector<heddle::future<int>> futures;
      futures.push_back(sched.submit([] { return 7; }));
      futures.back().wait();
      futures.push_back(sched.submit([&] { return gate.wait(), 8; }, heddle::route::on(0)));
      futures.push_back(sched.submit([] { return 9; }, heddle::route::on(0)));
      const int status = status_of_child([&] { return call_everything(sched, futures); }, make);
      ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
      EXPECT_EQ(WEXITSTATUS(status), fine) << "the number of the call that was not refused";
      gate.count_down();
      EXPECT_EQ(futures[0].get() + futures[1].get() + futures[2].get(), 24);
      EXPECT_EQ(sched.submit([] { return 4; }).get(), 4);
    });
  }
}

// The same: all destructors in the child do nothing, and do not hang on what the parent's threads hold.
TEST(Fork, DestructorsInTheChildAreSafe) {
  on_every_machine([](const heddle::scheduler_options& options) {
    auto sched = std::make_unique<heddle::scheduler>(options);
    auto local =
        std::make_unique<heddle::device_local<int>>(*sched, [](heddle::device_context& d) { return d.id(); });
    std::latch gate(1);
    auto running = sched->submit([&] { gate.wait(); }, heddle::route::on(0));
    auto queued = sched->submit([] {}, heddle::route::on(0));
    auto done = sched->submit([] { return 1; }, heddle::route::on(options.host.devices - 1).in_arena());
    done.wait();
    const int status = status_of_child([&] {
      { const auto gone = std::move(running); }
      { const auto gone = std::move(queued); }
      { const auto gone = std::move(done); }
      local.reset();
      sched.reset();
      return fine;
    });
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), fine);
    gate.count_down();
    running.get();
    queued.get();
    EXPECT_EQ(done.get(), 1);
  });
}

// The same: forked inside an item, on a device thread and in its arena, and inside as_device.
TEST(Fork, InsideAnItemTheChildActsForNoDevice) {
  on_every_machine([](const heddle::scheduler_options& options) {
    heddle::scheduler sched(options);
    const auto fork_here = [&] {
      return status_of_child([&] {
        if (heddle::this_device::try_id()) return 1;
        if (!refused([] { static_cast<void>(heddle::this_device::id()); })) return 2;
        if (!refused([&] { static_cast<void>(sched.submit([] {})); })) return 3;
        if (!refused([&] { sched.drain(); })) return 4;
        return fine;
      });
    };
    EXPECT_EQ(sched.submit(fork_here).get(), 0);
    EXPECT_EQ(sched.submit(fork_here, heddle::route::any().in_arena()).get(), 0);
    EXPECT_EQ(heddle::as_device(sched, 0, fork_here), 0);
    EXPECT_EQ(sched.submit([] { return heddle::this_device::id(); }, heddle::route::on(0)).get(), 0);
  });
}

// The same: forked while every lock of the parent may be held by someone.
TEST(Fork, UnderLoadTheChildStillAnswers) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizers' own locks, unlike malloc's, do not survive a fork under such a load";
#endif
  heddle::scheduler sched(hosts(4));
  std::atomic<bool> enough{false};
  std::vector<std::thread> load;
  for (int t = 0; t < 3; ++t) {
    load.emplace_back([&] {
      while (!enough) {
        auto one = sched.submit([] {}).then([] {});
        const std::vector<int> input(8, 1);
        sched.map([](int x) { return x; }, input);
        heddle::scheduler passing(hosts(1));
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    std::vector<heddle::future<int>> futures;
    futures.push_back(sched.submit([] { return 1; }));
    const int status = status_of_child([&] { return call_everything(sched, futures); });
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), fine);
    EXPECT_EQ(futures[0].get(), 1);
  }
  enough = true;
  for (auto& each : load) each.join();
}

// The same: a grandchild, and a scheduler that had ended before.
TEST(Fork, AGrandchildIsRefusedTooAndOneAfterTheEndAsWell) {
  { heddle::scheduler sched(hosts(2)); }
  const auto make_one = [] { return refused([] { heddle::scheduler another(hosts(1)); }) ? fine : 1; };
  EXPECT_EQ(status_of_child(make_one), 0);
  EXPECT_EQ(status_of_child([&] { return WEXITSTATUS(status_of_child(make_one)); }), 0);
}

// The same: a child that was made before any scheduler may have its own.
TEST(Fork, BeforeTheFirstSchedulerHarmsNothing) {
  // In a child of its own, since this process may have made a scheduler already.
  const char* const self = "/proc/self/exe";
  if (getenv("HEDDLE_TEST_FORK_FIRST") == nullptr) {
    std::vector<std::string> environment{"HEDDLE_TEST_FORK_FIRST=1"};
    for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
    std::vector<char*> pointers;
    for (auto& each : environment) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    std::string filter = "--gtest_filter=Fork.BeforeTheFirstSchedulerHarmsNothing";
    std::string name = self;
    char* arguments[] = {name.data(), filter.data(), nullptr};
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, self, nullptr, nullptr, arguments, pointers.data()), 0);
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
    return;
  }
  const auto work = [] {
    heddle::scheduler sched(hosts(2));
    return sched.submit([] { return 5; }).get() == 5 ? fine : 1;
  };
  EXPECT_EQ(status_of_child(work), 0);
  EXPECT_EQ(work(), fine);
}

// The same: fork and exec, which is what a program should do instead.
TEST(Fork, StartingAnotherProgramHarmsNothing) {
  heddle::scheduler sched(hosts(2));
  for (int k = 0; k < 10; ++k) {
    pid_t pid = 0;
    char name[] = "true";
    char* arguments[] = {name, nullptr};
    ASSERT_EQ(posix_spawnp(&pid, "true", nullptr, nullptr, arguments, environ), 0);
    EXPECT_EQ(sched.submit([k] { return k; }).get(), k);
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
