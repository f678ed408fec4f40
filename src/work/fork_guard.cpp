// SPDX-License-Identifier: Apache-2.0
#include "work/fork_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

struct origin {
  pid_t process;
  std::source_location where;
};

// The witness lies in a page of its own. The kernel hands every child a zeroed page in its place, a raw
// clone's child too, which a handler of pthread_atfork would not see.
std::atomic_flag made = ATOMIC_FLAG_INIT;
origin maker;

}  // namespace

void remember_this_process(const std::source_location& where) {
  if (made.test_and_set(std::memory_order_relaxed)) return;
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::madvise(memory, size, MADV_WIPEONFORK) != 0) {
    made.clear(std::memory_order_relaxed);
    throw error(
        "the scheduler cannot watch for fork (madvise MADV_WIPEONFORK failed): heddle needs Linux 4.14 or "
        "newer");
  }
  *static_cast<unsigned char*>(memory) = 1;
  maker = {::getpid(), where};
  fork_witness.store(static_cast<const volatile unsigned char*>(memory), std::memory_order_release);
}

void refuse_forked_child(const char* call) {
  throw forked_process(
      std::string(call) + " in process " + std::to_string(::getpid()) + ", a fork of process " +
      std::to_string(maker.process) + " that made a scheduler at " + maker.where.file_name() + ":" +
      std::to_string(maker.where.line()) +
      ": threads and devices do not survive a fork; fork before the first scheduler is made, or start "
      "a new program with exec or posix_spawn");
}

}  // namespace heddle::detail
