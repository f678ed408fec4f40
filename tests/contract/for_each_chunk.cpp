// SPDX-License-Identifier: Apache-2.0
#include "heddle/for_each_chunk.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "support/contract.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(ForEachChunk);

TEST_P(ForEachChunk, CoversTheRangeOnceForEverySplitAndNumberOfDevices) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    for (const std::int64_t n : {0, 1, 5, 4099}) {
      for (const auto& how : all_splits(sched, n)) {
        std::vector<int> v(static_cast<std::size_t>(n), 1);
        for_each_chunk(
            sched, n, how,
            [](device_context& d, index_range part, view<int> w) {
              d.launch(part.size(),
                       [p = w.local(), part](std::int64_t k) { p[k] += static_cast<int>(part.begin + k); });
            },
            inout(v));
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i + 1);
      }
    }
  });
}

TEST_P(ForEachChunk, RunsInItemsOfTheDevices) {
  scheduler sched(options(3));
  loop_options even;
  even.split = split::even();
  std::mutex mutex;
  std::set<int> ids;
  for_each_chunk(sched, 300, even, [&](device_context& d, index_range part) {
    EXPECT_EQ(part.size(), 100u);
    EXPECT_EQ(d.id(), this_device::id());
    const std::lock_guard lock(mutex);
    ids.insert(d.id());
  });
  EXPECT_EQ(ids, (std::set<int>{0, 1, 2}));
}

TEST_P(ForEachChunk, WorksWithoutBlocking) {
  scheduler sched(options(2));
  std::vector<int> v(5000);
  for_each_chunk_async(
      sched, v.size(),
      [](device_context& d, index_range part, view<int> w) {
        d.launch(part.size(), [w, part](std::int64_t k) { w[part.begin + k] = 3; });
      },
      out(v))
      .get();
  EXPECT_EQ(std::count(v.begin(), v.end(), 3), 5000);
}

TEST_P(ForEachChunk, TakesChunksOfTheSizeAskedFor) {
  scheduler sched(options(2));
  loop_options how;
  how.split = split::dynamic(64);
  std::atomic<int> whole_chunks{0}, rest{0};
  for_each_chunk(sched, 1000, how,
                 [&](device_context&, index_range part) { ++(part.size() == 64 ? whole_chunks : rest); });
  EXPECT_EQ(whole_chunks, 15);
  EXPECT_EQ(rest, 1);
}

}  // namespace
}  // namespace heddle::test
