// SPDX-License-Identifier: Apache-2.0
#include "pure/pick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace heddle::detail {
namespace {

// The rule in other words: sort everything, take the front.
std::optional<std::size_t> by_sorting(const std::vector<queue_head>& heads, std::uint64_t starts) {
  if (heads.empty()) return std::nullopt;
  std::vector<std::size_t> order(heads.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool by_age = heads[a].ticket < heads[b].ticket;
    if (starts % 32 == 31 || heads[a].priority == heads[b].priority) return by_age;
    return heads[a].priority > heads[b].priority;
  });
  return order[0];
}

// One queue per priority, as a device has them; starts are counted.
class model {
 public:
  std::uint64_t submit(int priority) {
    queues_[priority].push_back(next_ticket_);
    return next_ticket_++;
  }

  std::uint64_t start() {
    std::vector<queue_head> heads;
    for (const auto& [priority, queue] : queues_) {
      if (!queue.empty()) heads.push_back({priority, queue.front()});
    }
    auto& queue = queues_.at(heads.at(pick(heads, starts_++).value()).priority);
    const std::uint64_t ticket = queue.front();
    queue.pop_front();
    return ticket;
  }

 private:
  std::map<int, std::deque<std::uint64_t>> queues_;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t starts_ = 0;
};

TEST(Pick, FindsNothingWhenNothingIsQueued) {
  for (std::uint64_t starts = 0; starts < 64; ++starts) EXPECT_EQ(pick({}, starts), std::nullopt);
}

TEST(Pick, AgreesWithSortingForEverySmallInput) {
  // Up to four heads, three priorities, four tickets (equal ones too), both kinds of start.
  constexpr std::size_t kinds = 3 * 4;
  std::size_t seen = 0;
  for (std::size_t size = 0, inputs = 1; size <= 4; ++size, inputs *= kinds) {
    for (std::size_t code = 0; code < inputs; ++code) {
      std::vector<queue_head> heads;
      for (std::size_t i = 0, rest = code; i < size; ++i, rest /= kinds) {
        heads.push_back({static_cast<int>(rest % 3) - 1, rest % kinds / 3});
      }
      for (const std::uint64_t starts : {0u, 30u, 31u, 32u, 63u}) {
        ASSERT_EQ(pick(heads, starts), by_sorting(heads, starts)) << "input " << code << " of size " << size;
        ++seen;
      }
    }
  }
  EXPECT_EQ(seen, 5u * (1 + 12 + 144 + 1728 + 20736));
}

TEST(Pick, GivesOneStartIn32ToTheOldest) {
  const std::vector<queue_head> heads = {{9, 100}, {0, 1}};
  std::vector<std::uint64_t> fair;
  for (std::uint64_t starts = 0; starts < 128; ++starts) {
    if (pick(heads, starts) == 1u) fair.push_back(starts);
  }
  EXPECT_EQ(fair, (std::vector<std::uint64_t>{31, 63, 95, 127}));
}

TEST(Pick, TreatsTheExtremesOfPriorityAndTicketAsNumbers) {
  constexpr auto least = std::numeric_limits<int>::min();
  constexpr auto most = std::numeric_limits<int>::max();
  constexpr auto newest = std::numeric_limits<std::uint64_t>::max();
  const std::vector<queue_head> heads = {{least, 0}, {most, newest}};
  EXPECT_EQ(pick(heads, 0), 1u);
  EXPECT_EQ(pick(heads, newest), 0u);  // 2^64 - 1 is a start in 32
}

// Case 70 (NTIA/scos-sensor#103): under an endless load of higher priority a low item may never run.
TEST(Pick, StartsAnItemWithin32StartsPerOlderItemUnderEndlessHigherLoad) {
  for (std::uint64_t older = 0; older < 8; ++older) {
    for (std::uint64_t phase = 0; phase < 32; ++phase) {
      model queue;
      for (std::uint64_t i = 0; i < phase; ++i) {
        queue.submit(9);
        queue.start();
      }
      for (std::uint64_t i = 0; i < older; ++i) queue.submit(static_cast<int>(i % 2) * 9);
      const std::uint64_t low = queue.submit(-5);
      std::uint64_t waited = 0;
      do {
        ASSERT_LT(waited, 32 * (older + 1)) << older << " older, phase " << phase;
        queue.submit(9);
        ++waited;
      } while (queue.start() != low);
    }
  }
}

TEST(Pick, KeepsOrderWithinAPriorityUnderAnyLoad) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  model queue;
  std::map<std::uint64_t, int> priority_of;
  std::map<int, std::uint64_t> last;
  std::size_t queued = 0;
  for (int step = 0; step < 20000; ++step) {
    if (queued == 0 || random() % 2 == 0) {
      const int priority = static_cast<int>(random() % 4);
      priority_of[queue.submit(priority)] = priority;
      ++queued;
    } else {
      const std::uint64_t ticket = queue.start();
      --queued;
      const auto [at, first] = last.emplace(priority_of.at(ticket), ticket);
      if (!first) {
        ASSERT_GT(ticket, at->second);
        at->second = ticket;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::detail
