// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/graph_nodes.hpp"

#include <limits>
#include <string>

#include "heddle/error.hpp"
#include "scheduler/route_access.hpp"

namespace heddle::detail {

namespace {
std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};  // publishes nothing
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}
}  // namespace

graph_nodes::graph_nodes() noexcept : serial(next_serial()) {}

graph_nodes::~graph_nodes() {
  for (const node& each : nodes_) {
    if (each.operations->destroy != nullptr) each.operations->destroy(each.callable);
  }
}

bool graph_nodes::is_plain(const route& r) noexcept { return route_access::is_plain(r); }

std::uint32_t graph_nodes::keep_route(const route& r) {
  routes_.push_back(r);
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

void graph_nodes::check_may_grow() const {
  if (running.load(std::memory_order_acquire)) {
    throw invalid_option("task_graph::add while the graph runs: wait for the future of run() first");
  }
  if (nodes_.size() >= std::numeric_limits<number>::max() ||
      edges_.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw invalid_option("task_graph::add: a graph has at most 2^32 - 1 nodes, and as many dependencies");
  }
}

graph_nodes::number graph_nodes::commit(const node_operations* operations, void* callable,
                                        std::uint32_t route) {
  const auto n = static_cast<number>(nodes_.size());
  number predecessors = 0;
  for (std::size_t k = edges_.size(); k > 0 && edges_[k - 1].to == n; --k) ++predecessors;
  try {
    nodes_.push_back({operations, callable, predecessors, route});
  } catch (...) {
    if (operations->destroy != nullptr) operations->destroy(callable);
    throw;
  }
  linked_ = false;
  return n;
}

void graph_nodes::drop_edges() noexcept {
  while (!edges_.empty() && edges_.back().to == nodes_.size()) edges_.pop_back();
}

void graph_nodes::link() {
  if (linked_) return;
  for (node& each : nodes_) each.first_successor = 0;
  for (const edge& each : edges_) ++nodes_[each.from].first_successor;
  std::uint32_t sum = 0;
  for (node& each : nodes_) each.first_successor = sum += each.first_successor;
  // Each one's place moves back to its first as its successors are put in, the last one first.
  successors_.resize(edges_.size());
  for (std::size_t k = edges_.size(); k-- > 0;)
    successors_[--nodes_[edges_[k].from].first_successor] = edges_[k].to;
  roots_.clear();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].predecessors == 0) roots_.push_back(static_cast<number>(n));
  }
  linked_ = true;
}

}  // namespace heddle::detail
