// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/arrivals.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "heddle/map.hpp"
#include "work/current.hpp"

namespace heddle::detail {

struct arrivals::list {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::size_t> numbers;  // guarded by mutex
  void add(std::size_t number) {
    // Notified under the lock: the list may be gone as soon as the reader has seen the number.
    const std::lock_guard lock(mutex);
    numbers.push_back(number);
    changed.notify_one();
  }
};

arrivals::arrivals() : list_(std::make_shared<list>()) {}

void arrivals::expect(item& it, std::size_t number) {
  struct alignas(64) notice : continuation {
    std::shared_ptr<list> to;
    std::size_t number;
  };
  static constexpr continuation_operations notify{[](continuation& what, int) noexcept {
    const std::unique_ptr<notice> self(&static_cast<notice&>(what));
    self->to->add(self->number);
  }};
  auto* const one = new notice;
  one->kind = &notify;
  one->to = list_;
  one->number = number;
  if (!attach(it, *one)) notify.fire(*one, -1);
}

std::size_t arrivals::next(item& oldest) {
  refuse_wait_on_arena_thread("imap_unordered");
  std::unique_lock lock(list_->mutex);
  if (list_->numbers.empty() && on_own_device_thread()) {
    lock.unlock();
    wait_until_ended(oldest);
    lock.lock();
  }
  list_->changed.wait(lock, [&] { return !list_->numbers.empty(); });
  const std::size_t number = list_->numbers.front();
  list_->numbers.pop_front();
  return number;
}

}  // namespace heddle::detail
