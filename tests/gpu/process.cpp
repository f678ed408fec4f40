// SPDX-License-Identifier: Apache-2.0
// Forked children, and calls at the end of the process.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "answer.hpp"
#include "kernels.hpp"

namespace heddle::facts {

namespace {

cudaEvent_t left_event = nullptr;
bool tell_at_end = false;

/// Made before CUDA is used first, and so destroyed after the runtime's own statics if those are made lazily.
struct last_words {
  ~last_words() {
    if (!tell_at_end) return;
    outcomes all;
    int number = 0;
    all.add("EventQuery", cudaEventQuery(left_event));
    all.add("EventDestroy", cudaEventDestroy(left_event));
    all.add("GetDevice", cudaGetDevice(&number));
    all.add("DeviceSynchronize", cudaDeviceSynchronize());
    say("in a static destructor: " + all.summary());
  }
};
const last_words at_end;

void at_exit() {
  left_event = new_event();
  tell_at_end = true;
  std::atexit([] {
    say("in a function of atexit, registered after: cudaEventQuery " + text(cudaEventQuery(left_event)));
  });
}

/// What a child of fork sees; `prepare` is what the parent did before.
void in_child(const char* parent, const std::function<void()>& prepare) {
  prepare();
  cudaStream_t stream = nullptr;
  if (left_event != nullptr) stream = new_stream();
  say(std::string("the parent ") + parent);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    outcomes all;
    int number = 0;
    void* memory = nullptr;
    all.add("GetDeviceCount", cudaGetDeviceCount(&number));
    all.add("GetDevice", cudaGetDevice(&number));
    all.add("DriverGetVersion", cudaDriverGetVersion(&number));
    if (left_event != nullptr) {
      all.add("EventQuery(parent's)", cudaEventQuery(left_event));
      all.add("StreamSynchronize(parent's)", cudaStreamSynchronize(stream));
      all.add("EventDestroy(parent's)", cudaEventDestroy(left_event));
    }
    all.add("SetDevice", cudaSetDevice(0));
    all.add("Malloc", cudaMalloc(&memory, 16));
    all.add("GetLastError", cudaGetLastError());
    say("the child: " + all.summary());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    say("the child did not get to the end, wait status " + std::to_string(status));
  }
}

void fork_after_nothing() {
  in_child("had called nothing", [] {});
}
void fork_after_version() {
  in_child("had asked for the driver's version", [] {
    int version = 0;
    (void)cudaDriverGetVersion(&version);
  });
}
void fork_after_count() {
  in_child("had counted devices", [] {
    int count = 0;
    (void)cudaGetDeviceCount(&count);
  });
}
void fork_after_context() {
  in_child("had a context, a stream and an event", [] { left_event = new_event(); });
  say({"the parent then: ", text(launch_empty(nullptr)), ", ", text(cudaDeviceSynchronize())});
}

}  // namespace

std::vector<question> process_questions() {
  return {
      {"fork_after_nothing", "CUDA in a child of fork (1)", fork_after_nothing},
      {"fork_after_version", "CUDA in a child of fork (2)", fork_after_version},
      {"fork_after_count", "CUDA in a child of fork (3)", fork_after_count},
      {"fork_after_context", "CUDA in a child of fork (4)", fork_after_context},
      {"at_exit", "CUDA at the end of the process", at_exit},
  };
}

}  // namespace heddle::facts
