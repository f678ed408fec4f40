// SPDX-License-Identifier: Apache-2.0
// Taskflow, where its headers are found.
#pragma once

#include "../session.hpp"

#if __has_include(<taskflow/taskflow.hpp>)
#define HEDDLE_BENCH_HAS_TASKFLOW 1
#include <taskflow/taskflow.hpp>
#else
#define HEDDLE_BENCH_HAS_TASKFLOW 0
#endif

namespace bench {

/// Tells the session where it takes no part.
inline void look_for_taskflow(session& s) {
  if (!HEDDLE_BENCH_HAS_TASKFLOW) s.left_out("Taskflow", "it was not found when this was built");
}

}  // namespace bench
