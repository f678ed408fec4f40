// SPDX-License-Identifier: Apache-2.0
#include "work/ledger.hpp"

#include <algorithm>

#include "pure/admission.hpp"

namespace heddle::detail {

namespace {
constexpr std::uint64_t closed_flag = std::uint64_t{1} << 63;
constexpr std::uint64_t stopped_flag = std::uint64_t{1} << 62;
constexpr std::uint64_t count_mask = stopped_flag - 1;
}  // namespace

bool ledger::enter(std::size_t count, bool inside) noexcept {
  const std::uint64_t old = state_.fetch_add(count, std::memory_order_seq_cst);
  if ((old & stopped_flag) || ((old & closed_flag) && !inside)) {
    leave(count);
    return false;
  }
  return true;
}

void ledger::leave(std::size_t count) noexcept {
  const std::uint64_t old = state_.fetch_sub(count, std::memory_order_seq_cst);
  if ((old & count_mask) == count) wake();
}

std::size_t ledger::reserve(std::size_t count, bool may_not_wait) {
  for (;;) {
    std::uint64_t now = unstarted_.load(std::memory_order_seq_cst);
    for (;;) {
      const admission verdict = admit(now, count, capacity_, policy_, may_not_wait);
      if (verdict == admission::refuse) return 0;
      if (verdict == admission::wait) break;
      const std::size_t entering = std::min(count, room(now, capacity_));
      if (unstarted_.compare_exchange_weak(now, now + entering, std::memory_order_seq_cst)) return entering;
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    changed_.wait(lock, [&] { return room(unstarted_.load(std::memory_order_seq_cst), capacity_) > 0; });
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void ledger::start(std::size_t count) noexcept {
  const std::uint64_t old = unstarted_.fetch_sub(count, std::memory_order_seq_cst);
  if (old >= capacity_) wake();
}

void ledger::close() noexcept { state_.fetch_or(closed_flag, std::memory_order_seq_cst); }

bool ledger::closed() const noexcept { return (state_.load(std::memory_order_acquire) & closed_flag) != 0; }

bool ledger::drain_until(std::chrono::steady_clock::time_point limit) {
  const auto idle = [&] { return (state_.load(std::memory_order_seq_cst) & count_mask) == 0; };
  if (idle()) return true;
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool reached = true;
  if (limit == std::chrono::steady_clock::time_point::max()) {
    changed_.wait(lock, idle);
  } else {
    reached = changed_.wait_until(lock, limit, idle);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return reached;
}

bool ledger::stop_if_idle() noexcept {
  std::uint64_t old = state_.load(std::memory_order_seq_cst);
  do {
    if ((old & count_mask) != 0) return false;
  } while (!state_.compare_exchange_weak(old, old | closed_flag | stopped_flag, std::memory_order_seq_cst));
  return true;
}

std::uint64_t ledger::pending() const noexcept { return state_.load(std::memory_order_relaxed) & count_mask; }

void ledger::wake() noexcept {
  // The sleeper counts itself before its last look at the counts, which changed before this look at the
  // sleepers: one of the two sees the other.
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

}  // namespace heddle::detail
