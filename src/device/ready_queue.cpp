// SPDX-License-Identifier: Apache-2.0
#include "device/ready_queue.hpp"

namespace heddle::detail {

void item_list::append(item& it) noexcept {
  if (it.next != nullptr) it.next = nullptr;  // else unwritten: somebody may be spinning on its line
  if (head == nullptr) {
    head = &it;
  } else {
    tail->next = &it;
  }
  tail = &it;
}

void item_list::prepend(item& it) noexcept {
  it.next = head;
  head = &it;
  if (tail == nullptr) tail = &it;
}

void item_list::insert_by_ticket(item& it) noexcept {
  item* before = nullptr;
  for (item* at = head; at != nullptr && at->ticket < it.ticket; at = static_cast<item*>(at->next))
    before = at;
  if (before == nullptr) return prepend(it);
  it.next = before->next;
  before->next = &it;
  if (tail == before) tail = &it;
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
    if (next != in_order) newest->next = in_order;
    in_order = newest;
    newest = next;
  }
  std::size_t count = 0;
  level* at = &level_of(in_order->priority);
  while (in_order != nullptr) {
    item* const next = static_cast<item*>(in_order->next);
    if (in_order->priority != at->priority) at = &level_of(in_order->priority);
    at->items.append(*in_order);
    in_order = next;
    ++count;
  }
  this->count(size() + count);
}

void ready_queue::heads(std::vector<queue_head>& all) const {
  for (const auto& each : levels_) {
    if (each.items.head != nullptr) all.push_back({each.priority, each.items.head->ticket});
  }
}

item_list ready_queue::take(std::size_t index, std::size_t& most) noexcept {
  item_list taken;
  for (auto& each : levels_) {
    if (each.items.head == nullptr || index-- != 0) continue;
    std::size_t left = most;
    for (; left > 0; --left) {
      item* const it = each.items.pop();
      if (it == nullptr) break;
      taken.append(*it);
    }
    most -= left;
    count(size() - most);
    break;
  }
  return taken;
}

void ready_queue::put_back(item& it) noexcept {
  try {
    level_of(it.priority).items.insert_by_ticket(it);
    count(size() + 1);
  } catch (...) {  // no memory for a level
    arrivals.push(it, it);
  }
}

item_list ready_queue::take_all() {
  sort_arrivals();
  item_list all;
  for (auto& each : levels_) {
    while (item* const it = each.items.pop()) all.append(*it);
  }
  count(0);
  return all;
}

}  // namespace heddle::detail
