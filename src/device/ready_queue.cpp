// SPDX-License-Identifier: Apache-2.0
#include "device/ready_queue.hpp"

namespace heddle::detail {

void item_list::append(item& it) noexcept {
  it.next = nullptr;
  if (head == nullptr) {
    head = &it;
  } else {
    tail->next = &it;
  }
  tail = &it;
}

item* item_list::pop() noexcept {
  item* const first = head;
  if (first != nullptr) {
    head = static_cast<item*>(first->next);
    if (head == nullptr) tail = nullptr;
  }
  return first;
}

ready_queue::level& ready_queue::level_of(int priority) {
  level* free = nullptr;
  for (auto& each : levels_) {
    if (each.priority == priority) return each;
    if (each.items.head == nullptr) free = &each;
  }
  if (free == nullptr) free = &levels_.emplace_back();
  free->priority = priority;
  return *free;
}

void ready_queue::sort_arrivals() {
  item* newest = arrivals.take();
  if (newest == nullptr) return;
  item* in_order = nullptr;
  while (newest != nullptr) {
    item* const next = static_cast<item*>(newest->next);
    newest->next = in_order;
    in_order = newest;
    newest = next;
  }
  std::size_t count = 0;
  while (in_order != nullptr) {
    item* const next = static_cast<item*>(in_order->next);
    level_of(in_order->priority).items.append(*in_order);
    in_order = next;
    ++count;
  }
  sorted_count_.fetch_add(count, std::memory_order_seq_cst);
}

void ready_queue::heads(std::vector<queue_head>& all) {
  sort_arrivals();
  for (const auto& each : levels_) {
    if (each.items.head != nullptr) all.push_back({each.priority, each.items.head->ticket});
  }
}

item& ready_queue::take(std::size_t index) noexcept {
  for (auto& each : levels_) {
    if (each.items.head == nullptr) continue;
    if (index-- == 0) {
      sorted_count_.fetch_sub(1, std::memory_order_seq_cst);
      return *each.items.pop();
    }
  }
  __builtin_unreachable();  // the caller asked for a head that `heads` named
}

item_list ready_queue::take_all() {
  sort_arrivals();
  item_list all;
  for (auto& each : levels_) {
    while (item* const it = each.items.pop()) all.append(*it);
  }
  sorted_count_.store(0, std::memory_order_seq_cst);
  return all;
}

}  // namespace heddle::detail
