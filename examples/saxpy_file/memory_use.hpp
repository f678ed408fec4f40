// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace saxpy_file {

/// Of this process so far, in bytes, as Linux counts (/proc/self/status); 0 where it does not tell.
struct memory_use {
  std::int64_t peak;  ///< the most that was in memory at one time, pages of mapped files among it
  std::int64_t
      mapped_files;  ///< pages of files that are in memory now; the system takes them where it needs room
};
memory_use memory_use_now();

}  // namespace saxpy_file
