// SPDX-License-Identifier: Apache-2.0
#include "device/ready_queue.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "work/prefetch.hpp"

namespace heddle::detail {

void item_list::append(item_list more) noexcept {
  if (more.head == nullptr) return;
  if (head == nullptr) {
    head = more.head;
  } else {
    tail->next = more.head;
  }
  tail = more.tail;
}

void item_list::append(item& it) noexcept {
  if (it.next != nullptr) it.next = nullptr;  // else unwritten: somebody may be spinning on its line
  append(item_list{&it, &it});
}

void item_list::prepend(item_list more) noexcept {
  if (more.tail->next != head) more.tail->next = head;  // as above
  head = more.head;
  if (tail == nullptr) tail = more.tail;
}

void item_list::insert_by_ticket(item& it) noexcept {
  item* before = nullptr;
  for (item* at = head; at != nullptr && at->ticket < it.ticket; at = static_cast<item*>(at->next))
    before = at;
  if (before == nullptr) return prepend({&it, &it});
  it.next = before->next;
  before->next = &it;
  if (tail == before) tail = &it;
}

item* item_list::pop() noexcept {
  item* const first = head;
  if (first != nullptr) {
    prefetch_ahead(*first);
    head = static_cast<item*>(first->next);
    if (head == nullptr) tail = nullptr;
  }
  return first;
}

void item_run::add(item& it) noexcept {
  if (item* const older = older_.replace(&it)) older->ahead = lines_between(*older, &it);
  it.ahead = 0;
  items.append(it);
  ++count;
}

ready_queue::level& ready_queue::level_of(int priority) {
  level* free = nullptr;
  for (auto& each : levels_) {
    if (each.priority == priority) return each;
    if (each.items.head == nullptr && each.arrived.head == nullptr) free = &each;
  }
  if (free == nullptr) free = &levels_.emplace_back();
  free->priority = priority;
  return *free;
}

void ready_queue::sort_arrivals() {
  continuation* newest = arrivals.take();
  if (newest == nullptr) return;
  passed<item> younger;
  std::size_t sorted = size();
  level* at = nullptr;
  while (newest != nullptr) {
    continuation* const older = newest->next;
    item_list some;
    if (newest->kind == &item_run::is_run) {
      const std::unique_ptr<item_run> run(static_cast<item_run*>(newest));
      some = run->items;
      sorted += run->count;
    } else {
      item& it = static_cast<item&>(*newest);
      prefetch_ahead(it);
      it.ahead = lines_between(it, younger.replace(&it));
      some = {&it, &it};
      ++sorted;
    }
    if (at == nullptr || at->priority != some.head->priority) at = &level_of(some.head->priority);
    at->arrived.prepend(some);
    newest = older;
  }
  for (auto& each : levels_) each.items.append(std::exchange(each.arrived, {}));
  count(sorted);
}

void ready_queue::sort_arrivals_below(std::size_t enough) {
  const bool sorted_go_first = std::any_of(levels_.begin(), levels_.end(), [](const level& each) {
    return each.priority >= 0 && each.items.head != nullptr;
  });
  if (size() < enough || !sorted_go_first) sort_arrivals();
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
    arrivals.push(it);
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
