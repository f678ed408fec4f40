// SPDX-License-Identifier: Apache-2.0
#include "work/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::detail {

constinit bool one_sided_fences = false;

void prepare_fences() noexcept {
#if !defined(HEDDLE_UNDER_TSAN)
  static const bool registered =
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  static const bool written = (one_sided_fences = registered);
  (void)written;
#endif
}

bool costly_fence() noexcept {
  if (one_sided_fences) return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  full_fence();
  return true;
}

}  // namespace heddle::detail
