// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "heddle/options.hpp"
#include "work/fence.hpp"
#include "work/tally.hpp"

namespace heddle::detail {

class item;

/// The books of a scheduler: how many items have not ended, how many have not started, and who may still
/// submit. Any thread. Submitters count what enters; each place that runs items counts in a tally of its own
/// what started and ended there; the differences are made when somebody asks.
class ledger {
 public:
  ledger(std::size_t capacity, when_full policy) noexcept
      : capacity_(std::min(capacity, most_capacity)), policy_(policy) {}

  enum class refusal { none, stopped, full };
  struct admission_of_items {
    std::size_t count;           // 0: refused
    std::uint64_t first_ticket;  // the order of submission; the others follow
    refusal why = refusal::none;
  };

  /// Counts `count` items if that takes no more than a look: an open scheduler, and room that is known of.
  /// Else counts none: ask `admit`.
  admission_of_items try_admit(std::size_t count) noexcept {
    std::uint64_t now = entered_.load(std::memory_order_relaxed);
    do {
      if (now + count > capacity_ + known_left_.load(std::memory_order_relaxed)) return {0, 0};  // or closed
    } while (!entered_.compare_exchange_weak(now, now + count, std::memory_order_seq_cst));
    return {count, first_ticket_of_all + now};
  }
  /// Counts between 1 and `count` items that are going to be queued, before any other thread can see them.
  /// Refused if the scheduler is stopped, or closed and the caller is not `inside` one of its items; or if
  /// the queue is full and `may_not_wait` or the policy is reject (then all or none). Blocks for room
  /// otherwise.
  admission_of_items admit(std::size_t count, bool inside, bool may_not_wait);
  /// Counts more items along with one that was admitted and has not ended, whatever the capacity. The ticket
  /// of the first.
  std::uint64_t admit_along(std::size_t count) noexcept;
  /// Counts an item that is queued once another has ended: until `queue_waiting` it takes no room.
  admission_of_items admit_waiting(bool inside) noexcept;
  void queue_waiting() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }
  /// Takes back an admission of items that nobody has seen; `waiting`: by `admit_waiting`.
  void take_back(std::size_t count, bool waiting) noexcept;

  /// Counts a call that is no item but that the scheduler's end waits for; false if it is refused, as above.
  bool enter_call(bool inside) noexcept;
  void leave_call() noexcept;

  /// The books of one place; valid as long as these. Before the first item.
  tally& new_tally(tally::writers who) { return tallies_.emplace_back(who); }
  /// After a start: lets submitters in that wait for room.
  void tell_room() noexcept { tell(room_wanted_); }
  /// After an end that may be the last: lets `drain` look. Whoever runs items calls it before it rests.
  void tell_end() noexcept { tell(end_wanted_); }

  void close() noexcept;
  /// Blocks until nothing is pending, or the time is over; whether nothing is pending.
  bool drain_until(std::chrono::steady_clock::time_point limit);
  /// For a thread that sleeps on an item's word meanwhile: from here to `unwatch_end` the item is nudged
  /// where `drain_until` would look again.
  void watch_end(item&);
  void unwatch_end(item&) noexcept;
  /// Whether nothing is pending. If something is, the watchers are nudged at the end; where nobody might do
  /// that, `limit` becomes the time of the next look.
  bool is_idle_or_told(std::chrono::steady_clock::time_point& limit) noexcept;
  /// Ends all submission if nothing is pending; false if something is.
  bool stop_if_idle() noexcept;

  void refuse() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
  /// The ticket that the next item gets.
  std::uint64_t next_ticket() const noexcept;
  std::uint64_t pending() const noexcept;
  std::uint64_t unstarted() const noexcept;
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_; }
  when_full policy() const noexcept { return policy_; }

 private:
  static constexpr std::uint64_t first_ticket_of_all = 1;
  static constexpr std::size_t most_capacity = std::size_t{1} << 61;  // below the flags, whatever is added

  admission_of_items enter(std::size_t count, bool inside) noexcept;
  std::uint64_t left_queue() const noexcept;
  std::uint64_t ended() const noexcept;
  std::uint64_t unstarted_at_most(std::uint64_t entered, std::size_t asked) noexcept;
  void wait_for_room();
  template <class Reached>
  bool sleep_until(Reached, std::atomic<bool>& wanted, std::chrono::steady_clock::time_point limit);
  void tell(std::atomic<bool>& wanted) noexcept {
    // The sleeper says what it wants before its last look at the counts, which changed before this look at
    // what is wanted: one of the two sees the other.
    cheap_fence();
    if (wanted.load(std::memory_order_relaxed)) wake(wanted);
  }
  void wake(std::atomic<bool>& wanted) noexcept;

  // Written by submitters.
  alignas(64) std::atomic<std::uint64_t> entered_{0};  // with two flags at the top; seq_cst with the ends
  std::atomic<std::uint64_t> known_left_{0};           // how many have left the queue, at least; a hint
  std::atomic<std::uint64_t> refused_{0};              // a count
  alignas(64) std::atomic<std::uint64_t> waiting_{
      0};  // entered, and not queued yet; publishes nothing: a count

  // Seldom written.
  alignas(64) const std::size_t capacity_;
  const when_full policy_;
  std::deque<tally> tallies_;                           // fixed once the scheduler has started
  tally& others_ = new_tally(tally::writers::several);  // whoever is not a place
  // Whether a thread sleeps in `drain`, or in `admit` for room; seq_cst with the counts that it waits for.
  std::atomic<bool> end_wanted_{false}, room_wanted_{false};
  std::mutex mutex_;  // orders a sleeper's last look before the wake
  std::condition_variable changed_;
  std::vector<item*> watchers_;  // guarded by mutex_
};

}  // namespace heddle::detail
