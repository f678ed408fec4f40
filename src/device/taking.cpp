// SPDX-License-Identifier: Apache-2.0
// What a device thread takes next: from its hand, from the queues, from the hands of others.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "device/device_group.hpp"
#include "device/device_thread.hpp"
#include "device/wait_graph.hpp"
#include "pure/batch.hpp"
#include "pure/pick.hpp"
#include "work/fence.hpp"

namespace heddle::detail {

namespace {
constexpr std::size_t all_there_are = ~std::size_t{0};
}

[[gnu::noinline]] void device_thread::look_anew() noexcept {
  if (!reconsider_.exchange(false, std::memory_order_acquire)) return;
  put_back_hand();
  look_at_arrivals_ = true;
}

[[gnu::noinline]] item* device_thread::take_more() {
  item* taken = take_left_lying();
  if (taken == nullptr) taken = take_from_queues();
  if (taken == nullptr) taken = take_from_others();
  if (taken != nullptr) pass_on();
  return taken;
}

item* device_thread::take() {
  for (;;) {
    if (reconsider_.load(std::memory_order_relaxed)) look_anew();
    item* taken = at_hand.pop();
    if (taken == nullptr) taken = take_more();
    if (taken == nullptr) return nullptr;
    if (taken->device >= 0) {
      pinned_taken_.store(pinned_taken_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    if (begin(*taken)) return taken;
  }
}

// Takes the next item, and some more to hand where they are short.
item* device_thread::take_from_queues() {
  const bool from_own = queue.maybe_nonempty();
  const bool from_shared = enabled() && group_.shared.maybe_nonempty();
  at_hand.offer(false);
  if (!from_own && !from_shared) return nullptr;
  const auto now = std::chrono::steady_clock::now();
  batch_ = std::min(next_batch(batch_, now - batch_taken_, hand::places), window_ - flights_);
  batch_taken_ = now;
  cpu_ = this_cpu();
  item* first = nullptr;
  std::size_t taken = 0;
  std::size_t for_anyone = 0;
  {
    std::unique_lock own_lock(queue.mutex, std::defer_lock);
    std::unique_lock shared_lock(group_.shared.mutex, std::defer_lock);
    if (from_own) {
      own_lock.lock();
      queue.sort_arrivals_below(look_at_arrivals_ ? all_there_are : batch_);
    }
    // Who sleeps could take them now.
    std::size_t most_for_anyone = 1;
    if (from_shared) {
      shared_lock.lock();
      group_.shared.sort_arrivals_below(look_at_arrivals_ ? all_there_are
                                                          : 2 * batch_ * group_.threads.size());
      if (batch_ > 1 && !others_could_start()) {
        most_for_anyone = fair_share(group_.shared.size(), group_.threads.size());
      }
    }
    while (taken < batch_) {
      heads_.clear();
      if (from_own) queue.heads(heads_);
      const std::size_t own_heads = heads_.size();
      if (from_shared) group_.shared.heads(heads_);
      const auto chosen = pick(heads_, starts_);
      if (!chosen) break;
      const bool own = *chosen < own_heads;
      // Those with a priority one by one, since others may come that go before them, or not before long ones.
      const bool plain = heads_[*chosen].priority == 0;
      if (first != nullptr && !plain) break;
      auto& from = own ? queue : group_.shared;
      const std::size_t index = own ? *chosen : *chosen - own_heads;
      // Where there is one list only, the next ones come from there as well.
      std::size_t run = heads_.size() == 1 ? batch_ - taken : 1;
      if (!own) run = std::min(run, most_for_anyone - std::min(for_anyone, most_for_anyone));
      if (run == 0) break;
      if (!plain) run = 1;
      item_list items = from.take(index, run);
      starts_ += run;
      while (item* const it = items.pop()) {
        ++taken;
        if (!own) ++for_anyone;
        if (first == nullptr) {
          first = it;
        } else {
          at_hand.add(*it, !own);
        }
      }
      if (!plain) break;
    }
  }
  look_at_arrivals_ = false;
  batch_ = std::max<std::size_t>(taken, 1);
  if (taken > 1 && for_anyone > 0) {
    at_hand.offer(true);
    full_fence();  // who disables this device has said so before it looks here
    if (!enabled()) put_back_hand();
  }
  return first;
}

// Whoever was woken for a shared item may take another one first, and be long about it: each device that
// takes one passes the word on while there are more, in the queue or at hand. tests/model/parked_devices.pml.
void device_thread::pass_on() noexcept {
  full_fence();  // who parks has said so before it looks at the queue and at the hands
  if (!group_.resting.any()) return;
  if (group_.shared.maybe_nonempty() || someone_offers())
    group_.wake_for_shared(1, batch_ > 1 ? 1 : spin_permit::cores_or_one());
}

// Whether there are devices that sleep, and cores for them.
bool device_thread::others_could_start() const noexcept {
  const std::size_t asleep = group_.resting.count();
  return asleep > 0 && group_.threads.size() - asleep < static_cast<std::size_t>(spin_permit::cores_or_one());
}

bool device_thread::take_over(item& it) noexcept {
  if (it.device != identity_.index || it.in_arena || it.priority != 0) return false;
  if (top_ != nullptr || at_hand.full()) return false;
  if (queue.maybe_nonempty() || (enabled() && group_.shared.maybe_nonempty())) return false;
  count_pinned(1);
  at_hand.add(it, false);
  return true;
}

// What a device that is busy now has at hand, so that nothing waits for its turn while another one is idle.
item* device_thread::take_from_others() noexcept {
  device_thread* const other = who_offers();
  return other != nullptr ? other->at_hand.take_for_anyone() : nullptr;
}

device_thread* device_thread::who_offers() const noexcept {
  if (!enabled() || !group_.complete.load(std::memory_order_acquire)) return nullptr;
  for (const auto& each : group_.threads) {
    if (each.get() != this && each->at_hand.offers()) return each.get();
  }
  return nullptr;
}

// The same, this one among them, whether or not it may take part.
bool device_thread::someone_offers() const noexcept {
  return std::any_of(group_.threads.begin(), group_.threads.end(),
                     [](const auto& each) { return each->at_hand.offers(); });
}

// What a device has at hand that has begun nothing between two looks: it is busy with something long.
item* device_thread::take_left_lying() noexcept {
  if (!enabled() || !group_.complete.load(std::memory_order_acquire)) return nullptr;
  const std::size_t count = group_.threads.size();
  if (count < 2) return nullptr;
  looked_at_ = looked_at_ + 1 < count ? looked_at_ + 1 : 0;  // one at a time
  device_thread& other = *group_.threads[looked_at_];
  if (&other == this || !other.at_hand.offers()) return nullptr;
  if (seen_started_.size() != count) seen_started_.assign(count, 0);
  const std::uint64_t started = other.own_.started();
  if (std::exchange(seen_started_[looked_at_], started) != started) return nullptr;
  return other.at_hand.take_for_anyone();
}

void device_thread::put_back_hand() noexcept {
  at_hand.offer(false);
  std::size_t count = 0;
  std::size_t for_anyone = 0;
  while (item* const it = at_hand.pop()) {
    ++count;
    if (it->device < 0) ++for_anyone;
    auto& from = it->device < 0 ? group_.shared : queue;
    const std::lock_guard lock(from.mutex);
    from.put_back(*it);
  }
  starts_ -= count;
  batch_ -= std::min(count, batch_ - 1);
  if (for_anyone == 0) return;
  full_fence();
  group_.wake_for_shared(for_anyone);
}

void device_thread::serve_until_ended(item& awaited) {
  put_back_hand();  // others may run it meanwhile, and this thread what it waits for
  wait_graph::wait(*this, awaited);
}

}  // namespace heddle::detail
