// SPDX-License-Identifier: Apache-2.0
#include "heddle/task_graph.hpp"

#include "graphs/graph_run.hpp"
#include "heddle/error.hpp"
#include "work/fork_guard.hpp"

namespace heddle {

void task_graph::refuse_moved() {
  throw invalid_option("a task_graph that was moved from: use the one it was moved to, or assign a new one");
}

void task_graph::refuse_node() {
  throw invalid_option(
      "task_graph::add after a node of another graph, or of none: name nodes that add() of this graph has "
      "returned");
}

loop_future<void> task_graph::run(scheduler& s, const graph_options& options) {
  detail::refuse_in_forked_child("task_graph::run");
  auto& all = nodes();
  if (all.running.exchange(true, std::memory_order_acquire)) {
    throw invalid_option(
        "task_graph::run while the graph runs: wait for the future of the run before, or make a second "
        "graph");
  }
  try {
    all.expect_link();
    return loop_future<void>(std::make_shared<detail::graph_run>(s.core(), nodes_, options)->start());
  } catch (...) {
    all.running.store(false, std::memory_order_release);
    throw;
  }
}

}  // namespace heddle
