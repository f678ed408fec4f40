// SPDX-License-Identifier: Apache-2.0
#include "bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace fake {

void bell::ring() {
  rings_.fetch_add(1, std::memory_order_relaxed);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&rings_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
            nullptr, 0);
}

void bell::sleep(std::uint32_t seen) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&rings_), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr,
            0);
}

}  // namespace fake
