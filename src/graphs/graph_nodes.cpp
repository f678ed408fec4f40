// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/graph_nodes.hpp"

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

void graph_nodes::refuse_to_grow() const {
  if (running.load(std::memory_order_acquire)) {
    throw invalid_option("task_graph::add while the graph runs: wait for the future of run() first");
  }
  throw invalid_option("task_graph::add: a graph has at most 2^32 - 1 nodes, and as many dependencies");
}

graph_nodes::number graph_nodes::commit(const node_operations* operations, void* callable, const route* r) {
  const auto n = static_cast<number>(nodes_.size());
  const auto predecessors = static_cast<number>(predecessors_.size() - edges_);
  try {
    if (predecessors == 0) roots_.push_back(n);
    nodes_.push_back(
        {operations, callable, predecessors, r != nullptr ? static_cast<number>(routes_.size()) : no_route});
    if (r != nullptr) routes_.push_back(*r);
  } catch (...) {
    while (nodes_.size() > n) nodes_.pop_back();
    if (!roots_.empty() && roots_.back() == n) roots_.pop_back();
    if (operations->destroy != nullptr) operations->destroy(callable);
    throw;
  }
  for (; edges_ < predecessors_.size(); ++edges_) ++nodes_[predecessors_[edges_]].successors_count;
  joins_ = joins_ || predecessors > 1;
  linked_ = false;
  return n;
}

void graph_nodes::link() noexcept {
  if (linked_) return;
  successors_.resize(edges_);
  std::uint32_t sum = 0;
  for (node& each : nodes_) each.first_successor = sum += each.successors_count;
  // Each one's place moves back to its first as its successors are put in, the last one first.
  std::size_t edge = edges_;
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    for (number k = nodes_[n].predecessors; k > 0; --k)
      successors_[--nodes_[predecessors_[--edge]].first_successor] = static_cast<number>(n);
  }
  linked_ = true;
}

}  // namespace heddle::detail
