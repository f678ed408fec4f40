// SPDX-License-Identifier: Apache-2.0
// StarPU, where it was found. Its workers spin while they have nothing to do, so that it is started before
// each of its turns and shut down behind it.
#pragma once

#include "../session.hpp"

#if defined(HEDDLE_BENCH_STARPU)
#define HEDDLE_BENCH_HAS_STARPU 1
#include <starpu.h>

#include <cstdlib>
#include <stdexcept>
#else
#define HEDDLE_BENCH_HAS_STARPU 0
#endif

namespace bench {

#if HEDDLE_BENCH_HAS_STARPU
/// There may be one at a time.
class starpu {
 public:
  explicit starpu(int workers) : workers_(workers) { starpu_codelet_init(&codelet_); }

  void start() {
    setenv("STARPU_SILENT", "1", 1);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers_;
    conf.ncuda = conf.nopencl = 0;
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = [](void*[], void* f) { (*static_cast<void (**)()>(f))(); };
    if (starpu_init(&conf) != 0) throw std::runtime_error("StarPU does not start");
  }
  void stop() { starpu_shutdown(); }

  /// Hands over a call of `*f`, and waits for it only if `synchronous`.
  void push(void (**f)(), bool synchronous = false) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet_;
    task->cl_arg = f;
    task->synchronous = synchronous ? 1 : 0;
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU takes no task");
  }
  void drain() { starpu_task_wait_for_all(); }

 private:
  int workers_;
  starpu_codelet codelet_;
};
#endif

/// Tells the session where it takes no part.
inline void look_for_starpu(session& s) {
  if (!HEDDLE_BENCH_HAS_STARPU) s.left_out("StarPU", "it was not found when this was built");
}

}  // namespace bench
