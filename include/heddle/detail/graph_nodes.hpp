// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/item.hpp"
#include "heddle/route.hpp"

namespace heddle::detail {

/// What a node calls, one table for each type of callable.
struct node_operations {
  void (*call)(void* callable, device_context*);  // the context is null where the callable takes none
  void (*destroy)(void* callable) noexcept;       // null: nothing to do
};

template <class F>
struct node_callable {
  static constexpr bool takes_context = std::is_invocable_v<F&, device_context&>;

  static void call(void* callable, device_context* context) {
    F& f = *static_cast<F*>(callable);
    if constexpr (takes_context) {
      static_cast<void>(f(*context));
    } else {
      static_cast<void>(f());
    }
  }
  static void destroy(void* callable) noexcept { std::destroy_at(static_cast<F*>(callable)); }
  static constexpr node_operations table{&call, std::is_trivially_destructible_v<F> ? nullptr : &destroy};
};

/// The nodes of a graph, by number in the order in which they were added, and which follow which. One thread
/// at a time, unless it says otherwise.
class graph_nodes {
 public:
  using number = std::uint32_t;
  static constexpr std::uint32_t no_route = ~std::uint32_t{0};
  struct node {
    const node_operations* operations;
    void* callable;
    number predecessors;  // how many
    std::uint32_t route;  // its place among the routes of nodes that are items; or no_route
    std::uint32_t successors_count = 0;
    std::uint32_t first_successor = 0;  // its place among the successors of all, as of the last `link`
  };

  graph_nodes() noexcept;
  graph_nodes(const graph_nodes&) = delete;
  graph_nodes& operator=(const graph_nodes&) = delete;
  ~graph_nodes();

  /// Makes a node that follows those named by `add_edge` since the last one. Strong guarantee.
  template <class F, class G>
  number add(G&& callable, const route& r) {
    const bool is_item = node_callable<F>::takes_context || !is_plain(r);
    void* const place = memory_.allocate(sizeof(F), alignof(F));
    ::new (place) F(std::forward<G>(callable));
    return commit(&node_callable<F>::table, place, is_item ? &r : nullptr);
  }
  /// Throws `invalid_option` if the graph runs, or is full.
  void check_may_grow() const {
    if (running.load(std::memory_order_acquire) || nodes_.size() >= most || predecessors_.size() >= most)
      refuse_to_grow();
  }
  void add_edge(number from) { predecessors_.push_back(from); }
  void drop_edges() noexcept { predecessors_.resize(edges_); }

  std::size_t size() const noexcept { return nodes_.size(); }
  const node& operator[](number n) const noexcept { return nodes_[n]; }
  /// Of the nodes that are items.
  const std::vector<route>& routes() const noexcept { return routes_; }
  const route& route_of(number n) const noexcept { return routes_[nodes_[n].route]; }
  /// As of the last `link`.
  std::span<const number> successors(number n) const noexcept {
    return {successors_.data() + nodes_[n].first_successor, nodes_[n].successors_count};
  }
  const std::vector<number>& roots() const noexcept { return roots_; }
  /// Whether a node has several predecessors.
  bool joins() const noexcept { return joins_; }
  /// Makes `successors` right after nodes were added, once there is memory for them.
  void expect_link() { successors_.reserve(edges_); }
  void link() noexcept;

  /// Of no other graph of the process, and not 0.
  const std::uint64_t serial;
  /// Set while the graph runs. Any thread; release and acquire, since who finds it clear may change the
  /// nodes.
  std::atomic<bool> running{false};

 private:
  static constexpr number most = ~number{0};
  [[noreturn]] void refuse_to_grow() const;
  static bool is_plain(const route&) noexcept;
  number commit(const node_operations*, void* callable, const route*);

  std::pmr::monotonic_buffer_resource memory_;
  std::vector<node> nodes_;
  std::vector<number> predecessors_;  // of all nodes, one node's after the other's
  std::size_t edges_ = 0;  // those of nodes that are there; behind them, of one that is being added
  std::vector<route> routes_;
  std::vector<number> successors_, roots_;
  bool linked_ = false, joins_ = false;
};

}  // namespace heddle::detail
