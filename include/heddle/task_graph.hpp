// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/graph_nodes.hpp"
#include "heddle/index_range.hpp"
#include "heddle/loop_future.hpp"
#include "heddle/scheduler.hpp"

namespace heddle {

/// Options of one run of a graph.
struct graph_options {
  std::string label = {};     ///< of the items that call nodes without a route
  std::stop_token stop = {};  ///< no node begins any more, and the run ends as `cancelled`
  /// Where given, filled by a run that fails or is stopped: the nodes that it has not done, ascending, by
  /// their place in the order of addition.
  std::vector<index_range>* not_done = nullptr;
};

/// Callables, and which of them have to end before which: made once, run as often as one likes.
///
/// A node follows nodes that were added before it, so that there are no circles. One that takes no
/// `device_context` and has no route does CPU work only, on the thread of whichever device comes to it first,
/// for some 10 to 30 ns; it uses no stream of the device, not even through a library, and does not block: as
/// many of them run at one time as there are cores, or devices. All others are items, with all that an item
/// has and costs, and end when their work on the device has.
///
///     heddle::task_graph graph;
///     const auto load = graph.add([&] { image = read("in.png"); });
///     const auto left = graph.add([&](heddle::device_context& device) { … }, {load});
///     const auto right = graph.add([&](heddle::device_context& device) { … }, {load}, heddle::route::on(1));
///     graph.add([&] { write("out.png", image); }, {left, right});
///     graph.run(sched).get();
///
/// One thread at a time may use a graph. It may go while it runs: the run keeps what it needs.
class task_graph {
 public:
  /// A node of one graph, or of none: a value.
  class node {
   public:
    node() noexcept = default;
    /// Its place in the order of addition, from 0.
    std::uint32_t index() const noexcept { return index_; }

   private:
    friend class task_graph;
    node(std::uint64_t graph, std::uint32_t index) noexcept : graph_(graph), index_(index) {}
    std::uint64_t graph_ = 0;  // its number in the process
    std::uint32_t index_ = 0;
  };

  task_graph() : nodes_(std::make_shared<detail::graph_nodes>()) {}
  task_graph(task_graph&&) noexcept = default;
  task_graph& operator=(task_graph&&) noexcept = default;

  /// Adds `f`, which each run calls once, as `f(context)` or `f()`, after the nodes of `after` have ended;
  /// what it returns is dropped. Throws `invalid_option` for a node of another graph, and while the graph
  /// runs; then nothing is added.
  template <class F>
  requires detail::item_callable<std::decay_t<F>> node add(F&& f, std::initializer_list<node> after = {},
                                                           const route& r = route::any()) {
    return add(std::forward<F>(f), std::span<const node>(after.begin(), after.size()), r);
  }
  template <class F>
  requires detail::item_callable<std::decay_t<F>> node add(F&& f, std::span<const node> after,
                                                           const route& r = route::any()) {
    detail::graph_nodes& all = nodes();
    all.check_may_grow();
    try {
      for (const node& each : after) {
        if (each.graph_ != all.serial) refuse_node();
        all.add_edge(each.index_);
      }
      return {all.serial, all.add<std::decay_t<F>>(std::forward<F>(f), r)};
    } catch (...) {
      all.drop_edges();
      throw;
    }
  }

  /// How many nodes it has.
  std::size_t size() const { return nodes().size(); }

  /// Calls every node, each after those it follows. Blocks only for room in the queue of `s`; the future is
  /// ready once no node runs or will run, and its end waits for that. If a node throws, no later one, by
  /// order of addition, begins, and the future throws what the first one threw, by that order; others go to
  /// `on_error`. `cancel()` of the future keeps all from beginning that has not. Throws `invalid_option`
  /// while the graph runs, `scheduler_stopped`, `queue_full`.
  loop_future<void> run(scheduler& s, const graph_options& options = {});

 private:
  detail::graph_nodes& nodes() const {
    if (!nodes_) refuse_moved();
    return *nodes_;
  }
  [[noreturn]] static void refuse_moved();
  [[noreturn]] static void refuse_node();

  std::shared_ptr<detail::graph_nodes> nodes_;
};

}  // namespace heddle
