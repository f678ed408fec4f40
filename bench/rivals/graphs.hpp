// SPDX-License-Identifier: Apache-2.0
// Ways to run a graph on two threads: built once by the constructor, then run any number of times.
#pragma once

#include <tbb/flow_graph.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <vector>

#include "../graph.hpp"
#include "taskflow.hpp"

namespace bench {

/// One thread that calls everything in order: what no scheduler on one thread can beat.
class plain_calls {
 public:
  explicit plain_calls(graph& g) {
    for (std::size_t k = 0; k < g.size(); ++k) nodes_.push_back([&g, k] { g.visit(k); });
  }
  void run() {
    for (auto& each : nodes_) each();
  }

 private:
  std::vector<std::function<void()>> nodes_;
};

/// Hands over each node by `push(f)` of `Items` once a count of its predecessors says that they are done.
template <class Items>
class counted_nodes {
 public:
  counted_nodes(Items& items, graph& g) : items_(items), graph_(g), missing_(g.size()) {}
  void run() {
    for (std::size_t k = 0; k < graph_.size(); ++k) missing_[k] = graph_.predecessors(k).size();
    for (std::size_t k = 0; k < graph_.size(); ++k) {
      if (graph_.predecessors(k).empty()) push(k);
    }
    items_.drain();
  }

 private:
  void push(std::size_t node) {
    items_.push([this, node] {
      graph_.visit(node);
      for (const std::size_t each : graph_.successors(node)) {
        if (missing_[each].fetch_sub(1) == 1) push(each);
      }
    });
  }

  Items& items_;
  graph& graph_;
  std::vector<std::atomic<std::size_t>> missing_;
};

class tbb_flow_graph {
 public:
  explicit tbb_flow_graph(graph& g) {
    for (std::size_t k = 0; k < g.size(); ++k) {
      nodes_.emplace_back(flow_, [&g, k](const message&) { g.visit(k); });
      at_.push_back(&nodes_.back());
      if (g.predecessors(k).empty()) make_edge(start_, nodes_.back());
      for (const std::size_t each : g.predecessors(k)) make_edge(*at_[each], nodes_.back());
    }
  }
  void run() {
    start_.try_put(message());
    flow_.wait_for_all();
  }

 private:
  using message = tbb::flow::continue_msg;
  tbb::flow::graph flow_;
  tbb::flow::broadcast_node<message> start_{flow_};
  std::list<tbb::flow::continue_node<message>> nodes_;  // they cannot be moved
  std::vector<tbb::flow::continue_node<message>*> at_;
};

#if HEDDLE_BENCH_HAS_TASKFLOW
class taskflow_graph {
 public:
  taskflow_graph(tf::Executor& executor, graph& g) : executor_(executor) {
    std::vector<tf::Task> tasks;
    for (std::size_t k = 0; k < g.size(); ++k) {
      tasks.push_back(flow_.emplace([&g, k] { g.visit(k); }));
      for (const std::size_t each : g.predecessors(k)) tasks[each].precede(tasks[k]);
    }
  }
  void run() { executor_.run(flow_).wait(); }

 private:
  tf::Executor& executor_;
  tf::Taskflow flow_;
};
#endif

}  // namespace bench
