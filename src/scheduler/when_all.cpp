// SPDX-License-Identifier: Apache-2.0
#include "heddle/when_all.hpp"

#include <atomic>
#include <memory>

#include "device/continuations.hpp"
#include "device/wait_graph.hpp"
#include "work/item.hpp"

namespace heddle::detail {

namespace {

struct join_state;

struct alignas(64) join_part : continuation {
  join_state* all = nullptr;
};

struct join_state {
  explicit join_state(std::size_t parents, item& it)
      : left(parents), follower(it), parts(new join_part[parents]) {}
  std::atomic<std::size_t> left;  // acq_rel: whoever takes the last one has seen every parent end
  item& follower;
  std::unique_ptr<join_part[]> parts;
};

void arrive(continuation& what, int device) noexcept {
  join_state* const all = static_cast<join_part&>(what).all;
  if (all->left.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    wait_graph::notify();  // who waits for all of them inside an item looks at the next one
    return;
  }
  item& follower = all->follower;
  delete all;
  queue_follower(follower, device);
}

constexpr continuation_operations arrival{&arrive};

}  // namespace

void follow_all(submission& admitted, std::vector<item*> parents, item& follower,
                std::function<bool()> cancel) {
  std::unique_ptr<join_state> all;
  try {
    all = std::make_unique<join_state>(parents.size(), follower);
    auto& extras = extras_of(follower);
    extras.waits_for_all = parents;
    extras.cancel = std::move(cancel);
    admitted.prepare_follower(follower);
  } catch (...) {
    discard(follower);
    throw;
  }
  admitted.handed_over();
  join_state* const joined = all.release();
  for (std::size_t k = 0; k < parents.size(); ++k) {
    auto& part = joined->parts[k];
    part.all = joined;
    part.kind = &arrival;
    // The last arrival frees all of it, which cannot come before the last turn of this loop.
    if (!attach(*parents[k], part)) arrive(part, parents[k]->ran_on);
  }
}

void pass_cancelling_on(const item& from, item& to) {
  if (!from.extras || !from.extras->cancel) return;
  try {
    extras_of(to).cancel = from.extras->cancel;
  } catch (...) {
    discard(to);
    throw;
  }
}

}  // namespace heddle::detail
