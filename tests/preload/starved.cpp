// SPDX-License-Identifier: Apache-2.0
// chimera-nas/libevpl#100: the creation of a thread fails, and the creator waits for it for ever. Right: the
// scheduler's constructor throws a typed error that names the device, threads that did start have ended by
// then, and where failures are tolerated the others go on. Runs with fail_thread in front of the C library.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "heddle/heddle.hpp"

namespace {

void (*fail_thread)(int, int);
int (*threads_asked_for)();

int heddle_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.rfind("heddle/", 0) == 0) ++count;
  }
  return count;
}

heddle::scheduler_options hosts(int devices) {
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = devices;
  options.on_error = [](const heddle::error_event&) {};
  return options;
}

int failures = 0;

void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  ++failures;
}

// The `k`-th thread of a strict scheduler of `devices` devices cannot be made.
void strict(int devices, int k, bool later_too) {
  const std::string where = std::to_string(devices) + " devices, creation " + std::to_string(k) + ": ";
  fail_thread(k, later_too);
  bool refused = false;
  try {
    heddle::scheduler sched(hosts(devices));
  } catch (const heddle::no_device& refusal) {
    refused = true;
    expect(std::string(refusal.what()).find("thread") != std::string::npos,
           where + "the message does not say what failed: " + refusal.what());
    expect(std::string(refusal.what()).find("device " + std::to_string(k - 1)) != std::string::npos,
           where + "the message does not name the device: " + refusal.what());
  } catch (const std::exception& other) {
    expect(false, where + "not a typed error: " + other.what());
    refused = true;
  }
  fail_thread(0, 0);
  expect(refused, where + "the constructor has not thrown");
  expect(heddle_threads() == 0, where + "threads that had started are left");
}

// The same, where the scheduler is told to go on without.
void lenient(int devices, int k) {
  const std::string where =
      std::to_string(devices) + " lenient devices, creation " + std::to_string(k) + ": ";
  auto options = hosts(devices);
  options.at_start = heddle::on_start_failure::lenient;
  fail_thread(k, 0);
  try {
    heddle::scheduler sched(options);
    fail_thread(0, 0);
    expect(devices > 1, where + "a scheduler without devices was made");
    expect(sched.devices().size() == static_cast<std::size_t>(devices - 1),
           where + "wrong number of devices");
    expect(sched.failed().size() == 1 && sched.failed()[0].info.id == k - 1,
           where + "the wrong one has failed");
    for (auto& each : sched.broadcast([] { return heddle::this_device::id(); }))
      expect(each.get() != k - 1, where + "the device that failed has run something");
  } catch (const heddle::no_device&) {
    fail_thread(0, 0);
    expect(devices == 1, where + "refused, though others could start");
  }
  expect(heddle_threads() == 0, where + "threads are left");
}

// Later creations, of TBB's workers, fail while items run: heddle does without.
void no_workers() {
  heddle::scheduler sched(hosts(2));
  fail_thread(1, 1);
  const std::vector<int> input(10, 1);
  int sum = 0;
  for (const int each : sched.map([](int x) { return x; }, input)) sum += each;
  expect(sum == 10, "items do not run where no more threads can be made");
  fail_thread(0, 0);
}

}  // namespace

int main() {
  fail_thread = reinterpret_cast<void (*)(int, int)>(dlsym(RTLD_DEFAULT, "fail_thread"));
  threads_asked_for = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "threads_asked_for"));
  if (fail_thread == nullptr || threads_asked_for == nullptr) {
    std::fprintf(stderr, "run this with LD_PRELOAD set to the fail_thread library\n");
    return 2;
  }
  alarm(60);
  for (const int devices : {1, 2, 4, 8}) {
    fail_thread(0, 0);
    { heddle::scheduler sched(hosts(devices)); }
    const int needed = threads_asked_for();
    expect(needed >= devices, "fewer threads than devices");
    for (int k = 1; k <= devices; ++k) {
      strict(devices, k, false);
      strict(devices, k, true);
      lenient(devices, k);
    }
  }
  no_workers();
  heddle::scheduler sched(hosts(4));
  expect(sched.submit([] { return 3; }).get() == 3, "a scheduler after all of this does not work");
  return failures == 0 ? 0 : 1;
}
