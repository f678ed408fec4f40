// SPDX-License-Identifier: Apache-2.0
// Graphs of small nodes, each of which needs the values of its predecessors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

/// Nodes are numbered so that predecessors come first. The last node depends on all others.
class graph {
 public:
  static graph chain(std::size_t n) {
    graph g(n);
    for (std::size_t k = 1; k < n; ++k) g.edge(k - 1, k);
    return g;
  }
  /// Each inner node has two predecessors; the leaves, a power of two, come first.
  static graph tree(std::size_t leaves) {
    graph g(2 * leaves - 1);
    for (std::size_t k = leaves; k < g.size(); ++k)
      g.edge(2 * (k - leaves), k), g.edge(2 * (k - leaves) + 1, k);
    return g;
  }
  /// A square, each node of which needs its neighbours above and on the left.
  static graph wavefront(std::size_t side) {
    graph g(side * side);
    for (std::size_t k = 0; k < g.size(); ++k) {
      if (k % side + 1 < side) g.edge(k, k + 1);
      if (k + side < g.size()) g.edge(k, k + side);
    }
    return g;
  }

  std::size_t size() const { return successors_.size(); }
  const std::vector<std::size_t>& successors(std::size_t node) const { return successors_[node]; }
  const std::vector<std::size_t>& predecessors(std::size_t node) const { return predecessors_[node]; }

  /// What a node does: it is worth one more than all its predecessors, modulo 2^64.
  void visit(std::size_t node) {
    std::uint64_t sum = 1;
    for (const std::size_t each : predecessors_[node]) sum += values_[each];
    values_[node] = sum;
  }
  /// What the last node is worth; every node is worth 0 from now on.
  std::uint64_t take_answer() {
    const std::uint64_t answer = values_.back();
    values_.assign(size(), 0);
    return answer;
  }

 private:
  explicit graph(std::size_t n) : successors_(n), predecessors_(n), values_(n) {}
  void edge(std::size_t from, std::size_t to) {
    successors_[from].push_back(to), predecessors_[to].push_back(from);
  }

  std::vector<std::vector<std::size_t>> successors_, predecessors_;
  std::vector<std::uint64_t> values_;
};

}  // namespace bench
