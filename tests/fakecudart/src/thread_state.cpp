// SPDX-License-Identifier: Apache-2.0
#include "thread_state.hpp"

#include <unistd.h>

#include "device.hpp"
#include "machine.hpp"

namespace fake {

namespace {

thread_local thread_state* state_of_thread = nullptr;

// The main thread's is never freed: objects of static life call the runtime after its thread_local ones are
// gone.
struct owner {
  ~owner() {
    if (::gettid() == ::getpid()) return;
    delete state_of_thread;
    state_of_thread = nullptr;
  }
};

thread_state& own_state() {
  if (state_of_thread == nullptr) {
    thread_local const owner last;
    (void)last;
    state_of_thread = new thread_state;
  }
  return *state_of_thread;
}

}  // namespace

thread_state& self() {
  thread_state& state = own_state();
  const unsigned long epoch = the_machine().epoch.load(std::memory_order_relaxed);
  if (state.epoch != epoch) {
    state = thread_state{};
    state.epoch = epoch;
  }
  return state;
}

int thread_state::current_device() const { return contexts.empty() ? chosen : contexts.back().dev->id; }

void thread_state::bind(device& to) {
  if (contexts.empty())
    contexts.push_back({&to, false});
  else
    contexts.back().dev = &to;
}

stream* thread_state::per_thread_stream(device& on) {
  stream*& mine = per_thread[&on];
  if (mine == nullptr) {
    mine = new stream(on, 0, 0, on.home->next_id.fetch_add(1, std::memory_order_relaxed));
    on.home->keep(mine);
    const std::lock_guard lock(on.mutex);
    on.implicit_streams.insert(mine);
  }
  return mine;
}

}  // namespace fake
