// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <signal.h>

#include <atomic>

namespace image_batch {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or the handler might not touch it

void on_signal(int) { asked_to_stop.store(true, std::memory_order_relaxed); }

}  // namespace

void defer_signals() {
  struct sigaction stop {};
  stop.sa_handler = on_signal;
  stop.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigaction(SIGINT, &stop, nullptr);
  ::sigaction(SIGTERM, &stop, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, nullptr);
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

bool interrupted() noexcept { return asked_to_stop.load(std::memory_order_relaxed); }

}  // namespace image_batch
