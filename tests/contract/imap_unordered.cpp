// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <set>
#include <stdexcept>

#include "support/contract.hpp"
#include "support/gate.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ImapUnordered);

const auto same = [](int x) { return x; };

TEST_P(ImapUnordered, GivesEachResultOnce) {
  scheduler sched(options(3));
  for (const std::size_t chunk : {1u, 7u}) {
    map_options how;
    how.chunk = chunk;
    std::set<int> seen;
    for (const int x : sched.imap_unordered(same, std::views::iota(0, 300), how)) {
      EXPECT_TRUE(seen.insert(x).second);
    }
    EXPECT_EQ(seen.size(), 300u);
  }
}

TEST_P(ImapUnordered, GivesWhatIsDoneFirst) {
  scheduler sched(options(2));
  gate go;
  auto results = sched.imap_unordered(
      [&](int x) {
        if (x == 0) go.wait();
        return x;
      },
      std::views::iota(0, 2));
  auto it = results.begin();
  EXPECT_EQ(*it, 1);
  go.open();
  EXPECT_EQ(*++it, 0);
}

TEST_P(ImapUnordered, ReadsAnInfiniteInput) {
  scheduler sched(options(2));
  int read = 0;
  for (const int x : sched.imap_unordered(same, std::views::iota(0))) {
    (void)x;
    if (++read == 200) break;
  }
  EXPECT_EQ(read, 200);
}

TEST_P(ImapUnordered, WorksInsideAnItemOnItsOwnDevice) {
  scheduler sched(options(2));
  auto f = sched.submit(
      [&sched] {
        int sum = 0;
        map_options how;
        how.route = route::on(0);
        for (const int x : sched.imap_unordered(same, std::views::iota(0, 100), how)) sum += x;
        return sum;
      },
      route::on(0));
  EXPECT_EQ(f.get(), 4950);
}

TEST_P(ImapUnordered, GivesAllResultsBeforeWhatTheInputThrows) {
  scheduler sched(options(2));
  auto results = sched.imap_unordered([](int x) { return x; },
                                      std::views::iota(0, 30) | std::views::transform([](int x) {
                                        if (x == 20) throw std::out_of_range("input");
                                        return x;
                                      }));
  int sum = 0;
  const auto read_all = [&] {
    for (const int x : results) sum += x;
  };
  EXPECT_THROW(read_all(), std::out_of_range);
  EXPECT_EQ(sum, 190);
}

}  // namespace
}  // namespace heddle::test
