// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device/inbox.hpp"
#include "pure/pick.hpp"
#include "work/prefetch.hpp"

namespace heddle::detail {

/// A chain of items, oldest first.
struct item_list {
  item* head = nullptr;
  item* tail = nullptr;

  void append(item& it) noexcept;
  void append(item_list) noexcept;
  void prepend(item_list) noexcept;
  /// Before the first younger one.
  void insert_by_ticket(item& it) noexcept;
  /// Null if empty.
  item* pop() noexcept;
};

/// Items that arrive as one, in their order, so that nobody needs to look at each to sort them. All go the
/// same way and have one priority.
struct item_run : continuation {
  static constexpr continuation_operations is_run{nullptr};
  item_run() noexcept : continuation{nullptr, &is_run} {}
  /// The oldest first.
  void add(item&) noexcept;

  item_list items;
  std::size_t count = 0;

  static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { free_block(block, bytes); }

 private:
  passed<item> older_;
};

/// Items that wait for a device: an inbox that any thread pushes to without a lock, and behind it one
/// first-in first-out list for each priority, for the thread that takes.
class ready_queue {
 public:
  inbox arrivals;

  /// Whether there may be something to take. Any thread; no lock.
  bool maybe_nonempty() const noexcept {
    // In this order, since submitters write the line of the arrivals.
    return sorted_count_.load(std::memory_order_seq_cst) != 0 || !arrivals.empty();
  }

  /// The same for sure: while another thread sorts arrivals, these can be seen nowhere.
  bool nonempty() {
    const std::lock_guard lock(mutex);
    return maybe_nonempty();
  }

  /// The lock under which everything below is called.
  std::mutex mutex;

  /// Sorts the arrivals into the lists.
  void sort_arrivals();
  /// The same where fewer than `enough` are sorted, or something that arrived may go before them: submitters
  /// tell of priorities above 0 only. Arrivals are best left alone, since submitters write their lines.
  void sort_arrivals_below(std::size_t enough);
  /// Appends the head of each list.
  void heads(std::vector<queue_head>& all) const;
  /// Takes the head that was the `index`-th of this queue in the last `heads`, and what follows it in its
  /// list: `most` items, or all there are; says in `most` how many.
  item_list take(std::size_t index, std::size_t& most) noexcept;
  item& take(std::size_t index) noexcept {
    std::size_t one = 1;
    return *take(index, one).head;
  }
  /// Puts an item back that was taken, before all younger ones of its priority.
  void put_back(item&) noexcept;
  /// All items, oldest first; for cancelling.
  item_list take_all();
  /// Of the items that satisfy `wanted` the one that would start first, left where it is; null if there is
  /// none.
  template <class Wanted>
  item* find(Wanted wanted) {
    sort_arrivals();
    item* first = nullptr;
    for (const auto& each : levels_) {
      if (first != nullptr && each.priority <= first->priority) continue;
      for (auto* it = each.items.head; it != nullptr; it = static_cast<item*>(it->next)) {
        if (!wanted(*it)) continue;
        first = it;
        break;
      }
    }
    return first;
  }
  std::size_t size() const noexcept { return sorted_count_.load(std::memory_order_relaxed); }

 private:
  struct level {
    int priority = 0;
    item_list items = {};
    item_list arrived = {};  // these come behind them, once all are sorted
  };
  level& level_of(int priority);
  void count(std::size_t sorted) noexcept { sorted_count_.store(sorted, std::memory_order_release); }

  std::vector<level> levels_;                 // guarded by mutex; few, since few priorities are in use
  std::atomic<std::size_t> sorted_count_{0};  // written under mutex; read without it by who parks
};

}  // namespace heddle::detail
