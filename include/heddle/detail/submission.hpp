// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heddle/detail/item.hpp"
#include "heddle/route.hpp"

namespace heddle::detail {

class scheduler_core;

/// Ends an item that no scheduler has accepted: its callable dies, its future must be dropped.
void discard(item&) noexcept;

/// Items that were made and not handed over yet: what is left at the end is discarded.
class new_items {
 public:
  new_items() = default;
  new_items(const new_items&) = delete;
  new_items& operator=(const new_items&) = delete;
  ~new_items() {
    for (item* const it : rest()) discard(*it);
  }
  void expect(std::size_t count) { items_.reserve(count); }
  void add(item& it) { items_.push_back(&it); }
  /// Those not handed over, oldest first.
  std::span<item* const> rest() const noexcept {
    return std::span<item* const>(items_).subspan(handed_over_);
  }
  /// The next `count` are somebody else's from now on.
  std::span<item* const> hand_over(std::size_t count) noexcept {
    handed_over_ += count;
    return std::span<item* const>(items_).subspan(handed_over_ - count, count);
  }

 private:
  std::vector<item*> items_;
  std::size_t handed_over_ = 0;
};

/// Says that an item comes along with another one.
struct along {};

/// The right to give items to a scheduler, obtained before the items are made, so that a refusal leaves the
/// caller's callables untouched. What is not used is given back.
class submission {
 public:
  enum class when_refused { throws, declines };

  /// Admits at least one item and at most `count`; blocks for room where the scheduler
  /// is set up so. Throws `invalid_option` for a bad route, `scheduler_stopped`, `queue_full`; `declines`
  /// turns the latter two into admitted() == 0, and never blocks.
  submission(scheduler_core&, const route&, std::size_t count = 1, when_refused = when_refused::throws);
  /// Admits one item that continues `parent`; on the parent's device if `r` is null.
  submission(const item& parent, const route* r);
  /// Admits one item of the scheduler with this serial number, for the device at this place; continuations of
  /// closed schedulers, and calls from outside, are refused as above.
  submission(std::uint64_t group_serial, int place);
  /// Admits one item along with another one of the scheduler that was admitted and has not ended, whatever
  /// the capacity, also once the scheduler is closed. Throws `invalid_option` for a bad route.
  submission(scheduler_core&, const route&, along);
  submission(const submission&) = delete;
  submission& operator=(const submission&) = delete;
  ~submission() {
    if (admitted_ > 0) give_back();
  }

  std::size_t admitted() const noexcept { return admitted_; }
  /// Hands over an item. Afterwards only its future may be used.
  void start(item&);
  /// The same for several at once, oldest first.
  void start(std::span<item* const>);
  /// The same in two calls: only the second one hands it over, and cannot fail. In between nobody runs it,
  /// but it may be cancelled.
  void prepare_apart(item&);
  void start_prepared(item&) noexcept;
  /// Hands over one item for each device, in the devices' order, by an admission of one: the rest goes beyond
  /// the bound of the queue. Items of two such calls come in the same order everywhere.
  void start_everywhere(std::span<item* const> by_place);
  /// Hands over an item that runs once `parent` has ended; `on_stream`: once its callable has returned.
  void follow(item& parent, item& follower, bool on_stream = false);
  /// Prepares an item that will be queued as a continuation; `handed_over` once that is certain.
  void prepare_follower(item& follower);
  void handed_over() noexcept { admitted_ = 0; }

 private:
  void give_back() noexcept;
  void admit(std::size_t count, when_refused);
  void admit_waiting();
  void resolve(const route&);
  void prepare(item&);
  void prepare(item&, std::int16_t cpu);
  void prepare_terms(item&);
  void prepare_all(std::span<item* const>);

  std::shared_ptr<scheduler_core> core_;  // keeps it alive for the time of the call
  const route* route_ = nullptr;
  std::size_t admitted_ = 0;
  std::uint64_t ticket_ = 0;  // of the next item
  bool waiting_ = false;      // it was admitted to wait for another one
  int device_ = -1;
  int stream_ = -1;
  std::uint8_t reason_ = 0;
};

}  // namespace heddle::detail
