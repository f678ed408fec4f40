// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/detail/graph_nodes.hpp"

namespace heddle::detail {

/// Nodes that may run now, of one runner: it takes the newest, others take the oldest half. Any thread.
class alignas(64) ready_nodes {
 public:
  using number = graph_nodes::number;

  /// Throws std::bad_alloc, and adds nothing.
  void push(number n) {
    const std::lock_guard lock(mutex_);
    nodes_.push_back(n);
    // Before the pusher looks who rests: who is about to rest says so before it looks here.
    size_.store(nodes_.size() - first_, std::memory_order_seq_cst);
  }
  /// The first one is the newest. Before it is shared.
  void fill(const std::vector<number>& all) {
    nodes_.assign(all.rbegin(), all.rend());
    size_.store(nodes_.size(), std::memory_order_relaxed);
  }

  /// For its runner.
  std::optional<number> take_newest() noexcept {
    if (size() == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (nodes_.size() == first_) return std::nullopt;
    const number n = nodes_.back();
    nodes_.pop_back();
    note_size();
    return n;
  }
  /// Moves all, or the older half, one at least, from `other` to this one, which is empty; whether there was
  /// one. `take_half_of`: no where there is no memory for them.
  bool take_all_of(ready_nodes& other) noexcept;
  bool take_half_of(ready_nodes& other) noexcept;

  /// How many there are; a hint, but for what is said above.
  std::size_t size() const noexcept { return size_.load(std::memory_order_seq_cst); }

  /// How many nodes its runner has run: who looks twice sees whether it comes on. A hint.
  std::uint64_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }
  void count_step() noexcept {
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  void note_size() noexcept {
    if (nodes_.size() == first_) nodes_.clear(), first_ = 0;
    size_.store(nodes_.size() - first_, std::memory_order_relaxed);
  }
  void replace(std::vector<number>&& by, std::size_t first) noexcept {
    const std::lock_guard lock(mutex_);
    nodes_ = std::move(by);
    first_ = first;
    size_.store(nodes_.size() - first_, std::memory_order_seq_cst);
  }

  std::mutex mutex_;
  std::vector<number> nodes_;  // guarded by mutex_; from first_ on, the oldest first
  std::size_t first_ = 0;      // guarded by mutex_
  std::atomic<std::size_t> size_{0};
  alignas(64) std::atomic<std::uint64_t> steps_{0};
};

inline bool ready_nodes::take_all_of(ready_nodes& other) noexcept {
  std::vector<number> taken;
  std::size_t first = 0;
  {
    const std::lock_guard lock(other.mutex_);
    taken.swap(other.nodes_);
    std::swap(first, other.first_);
    other.note_size();
  }
  const bool some = !taken.empty();
  if (some) replace(std::move(taken), first);
  return some;
}

inline bool ready_nodes::take_half_of(ready_nodes& other) noexcept {
  std::vector<number> taken;
  {
    const std::lock_guard lock(other.mutex_);
    const std::size_t there = other.nodes_.size() - other.first_;
    if (there == 0) return false;
    const auto count = static_cast<std::ptrdiff_t>((there + 1) / 2);
    const auto begin = other.nodes_.begin() + static_cast<std::ptrdiff_t>(other.first_);
    try {
      taken.assign(begin, begin + count);
    } catch (...) {
      return false;
    }
    other.first_ += taken.size();
    other.note_size();
  }
  replace(std::move(taken), 0);
  return true;
}

}  // namespace heddle::detail
