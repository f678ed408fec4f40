// SPDX-License-Identifier: Apache-2.0
#include "device/arena_observer.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace heddle::detail {

namespace {

// A worker that TBB made at a device thread's request inherits that thread's name and, where it is bound to a
// NUMA node, its CPUs, and would keep both for other arenas. It gets the process's own.
void make_neutral(bool bound_to_node) noexcept {
  thread_local bool done = false;
  if (done) return;
  done = true;
  ::pthread_setname_np(::pthread_self(), std::string(program_invocation_short_name).substr(0, 15).c_str());
  cpu_set_t mask;
  if (bound_to_node && ::sched_getaffinity(::getpid(), sizeof mask, &mask) == 0) {
    ::sched_setaffinity(0, sizeof mask, &mask);
  }
}

}  // namespace

arena_observer::arena_observer(tbb::task_arena& arena, const bound_device& device, driver& seam,
                               int driver_device)
    : tbb::task_scheduler_observer(arena),
      arena_(arena),
      device_(device),
      seam_(seam),
      driver_device_(driver_device) {
  observe(true);
}

arena_observer::~arena_observer() { observe(false); }

void arena_observer::on_scheduler_entry(bool is_worker) {
  if (is_worker) make_neutral(device_.info.numa_node.has_value());
  inside_.fetch_add(1, std::memory_order_seq_cst);
  // Nothing is left to do here then, and the exit might not be told.
  if (ending_.load(std::memory_order_seq_cst)) {
    inside_.fetch_sub(1, std::memory_order_release);
    return;
  }
  const bool own = current().own_device == &device_;
  if (own) own_.store(1, std::memory_order_relaxed);
  push_binding(device_, own ? binding_kind::device_thread : binding_kind::arena);
  current().top->entered = !own && seam_.enter(driver_device_);
}

void arena_observer::on_scheduler_exit(bool) {
  if (bound() != &device_) return;  // it entered when the end had begun
  if (current().top->entered) seam_.leave(driver_device_);
  pop_binding();
  inside_.fetch_sub(1, std::memory_order_release);
}

void arena_observer::kick() noexcept {
  kicks_.fetch_add(1, std::memory_order_relaxed);
  arena_.enqueue([this] { kicks_.fetch_sub(1, std::memory_order_release); });
}

void arena_observer::end() noexcept {
  using clock = std::chrono::steady_clock;
  // Workers leave by themselves: within some 200 us, or a second and more where others keep the cores busy. A
  // kick makes them begin anew, so that each has to leave more time.
  auto patience = std::chrono::milliseconds(2);
  auto kick_at = clock::now() + patience;
  // Who enters counts itself before it looks at this; here it is the other way round: one of the two sees the
  // other.
  ending_.store(true, std::memory_order_seq_cst);
  while (inside_.load(std::memory_order_seq_cst) != 0 || kicks_.load(std::memory_order_acquire) != 0) {
    std::this_thread::yield();
    if (clock::now() < kick_at) continue;
    kick();
    patience *= 2;
    kick_at = clock::now() + patience;
  }
  observe(false);
}

}  // namespace heddle::detail
