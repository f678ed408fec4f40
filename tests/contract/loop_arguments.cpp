// SPDX-License-Identifier: Apache-2.0
#include "heddle/loop_arguments.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/contract.hpp"
#include "support/loop_devices.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(LoopArguments);

struct point {
  double x, y;
  std::int8_t tag;
};

TEST_P(LoopArguments, ComeInTheirOrderWithValuesBetween) {
  scheduler sched(options(3));
  std::vector<float> x(1000), y(1000, 2.f);
  std::iota(x.begin(), x.end(), 0.f);
  std::array<point, 1000> points{};
  parallel_for(
      sched, x.size(),
      [](std::int64_t i, float a, view<const float> from, view<float> to, std::int64_t b, view<point> p) {
        to[i] += a * from[i];
        p[i] = {from[i], static_cast<double>(b), 7};
      },
      0.5f, in(x), inout(y), std::int64_t{40}, out(points));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], 2.f + 0.5f * x[i]);
    ASSERT_EQ(points[i].x, x[i]);
    ASSERT_EQ(points[i].y, 40);
    ASSERT_EQ(points[i].tag, 7);
  }
}

TEST_P(LoopArguments, MayBeSpansAndArraysOfAnyKind) {
  scheduler sched(options(2));
  int plain[64] = {};
  std::vector<int> v(100, 1);
  const auto add = [](std::int64_t i, view<int> o) { o[i] += static_cast<int>(i); };
  parallel_for(sched, 64, add, inout(plain));
  parallel_for(sched, 50, add, inout(std::span(v).subspan(25, 50)));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(plain[i], i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(v[static_cast<std::size_t>(i)], i < 25 || i >= 75 ? 1 : i - 24);
}

TEST_P(LoopArguments, ReadWholeRangesOfAnySizeAtAnyIndex) {
  for_device_counts(GetParam(), [](scheduler& sched) {
    std::vector<int> table(77);
    std::iota(table.begin(), table.end(), 100);
    for (const auto& how : all_splits(sched, 5000)) {
      std::vector<int> found(5000);
      parallel_for(
          sched, found.size(), how,
          [](std::int64_t i, view<const int> t, view<int> f) { f[i] = t[(i * 31) % 77] + t[76]; },
          whole(table), out(found));
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], table[(i * 31) % 77] + table[76]);
    }
  });
}

// Every index of a view but those of the part is refused, on host devices as on those with memory of their
// own.
TEST_P(LoopArguments, OutsideOfThePartAreRefusedInCheckedViews) {
  HEDDLE_ON_HOST_DEVICES_ONLY("a GPU stops the kernel");
  scheduler sched(options(2));
  std::vector<int> v(100);
  loop_options halves;
  halves.split = split::even();
  std::atomic<int> refused{0};
  const auto neighbour = [&](std::int64_t i, view<int> w) {
    const view<int, true> checked(w.local(), w.range().begin, w.range());
    try {
      (void)checked[i + 1];
    } catch (const std::out_of_range&) {
      ++refused;
    }
  };
  parallel_for(sched, 100, halves, neighbour, inout(v));
  EXPECT_GE(refused, 2) << "the last index of each half";
  const view<int, true> half(v.data(), 0, {0, 50});
  EXPECT_NO_THROW((void)half[49]);
  EXPECT_THROW((void)half[50], std::out_of_range);
  EXPECT_THROW((void)half[-1], std::out_of_range);
  const view<int, true> plane(v.data(), 0, {0, 100}, 10, 100);
  EXPECT_NO_THROW((void)plane(9, 9));
  EXPECT_THROW((void)plane(0, 10), std::out_of_range);
  constexpr std::int64_t far = std::int64_t{1} << 57;  // times 128 it is 0, in 64 bits
  const view<int, true> wide(v.data(), 0, {0, 100}, 128), deep(v.data(), 0, {0, 100}, 64, 128);
  EXPECT_NO_THROW((void)wide(0, 99));
  EXPECT_THROW((void)wide(far, 5), std::out_of_range);
  EXPECT_THROW((void)wide(-far, 5), std::out_of_range);
  EXPECT_NO_THROW((void)deep(0, 1, 30));
  EXPECT_THROW((void)deep(0, far, 5), std::out_of_range);
  EXPECT_THROW((void)deep(far, 0, 5), std::out_of_range);
}

TEST_P(LoopArguments, OfOtherSizesAreRefusedBeforeAnythingRuns) {
  scheduler sched(options(2));
  std::vector<int> small(99), right(100);
  const auto never = [](std::int64_t, view<int>, view<const int>) { ADD_FAILURE(); };
  EXPECT_THROW(parallel_for(sched, 100, never, out(right), in(small)), invalid_option);
  EXPECT_THROW(parallel_for(sched, 100, never, out(small), in(right)), invalid_option);
  EXPECT_THROW((void)parallel_for_async(sched, 100, never, out(small), in(right)), invalid_option);
  EXPECT_THROW(parallel_for(
                   sched, extents{10, 11}, [](std::int64_t, std::int64_t, view<int>) {}, out(right)),
               invalid_option);
  try {
    parallel_for(sched, 100, never, out(right), in(small));
  } catch (const invalid_option& e) {
    EXPECT_NE(std::string(e.what()).find("99"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("100"), std::string::npos) << e.what();
  }
}

TEST_P(LoopArguments, ThatOverlapAreRefused) {
  scheduler sched(options(2));
  std::vector<int> v(150);
  const auto first = std::span(v).first(100);
  const auto last = std::span(v).last(100);
  const auto never = [](std::int64_t, view<int>, view<int>) { ADD_FAILURE(); };
  const auto read = [](std::int64_t, view<const int>, view<int>) { ADD_FAILURE(); };
  EXPECT_THROW(parallel_for(sched, 100, never, out(first), out(last)), invalid_option);
  EXPECT_THROW(parallel_for(sched, 100, read, in(first), out(last)), invalid_option);
  EXPECT_THROW(parallel_for(sched, 100, read, whole(v), inout(last)), invalid_option);
  EXPECT_NO_THROW(parallel_for(
      sched, 100, [](std::int64_t, view<const int>, view<const int>) {}, in(first), in(last)));
}

TEST_P(LoopArguments, AtANullAddressAreRefused) {
  scheduler sched(options(2));
  const std::span<int> nowhere(static_cast<int*>(nullptr), 10);
  EXPECT_THROW(parallel_for(
                   sched, 10, [](std::int64_t, view<int>) { ADD_FAILURE(); }, out(nowhere)),
               invalid_option);
}

TEST_P(LoopArguments, OfBadSizesAreRefused) {
  scheduler sched(options(2));
  const auto never = [](auto...) { ADD_FAILURE(); };
  EXPECT_THROW(parallel_for(sched, -1, never), invalid_option);
  EXPECT_THROW(parallel_for(sched, ~std::uint64_t{0}, never), invalid_option);
  EXPECT_THROW(parallel_for(sched, extents(std::int64_t{1} << 40, std::int64_t{1} << 40), never),
               invalid_option);
  EXPECT_THROW(parallel_for(sched, extents(3, -2), never), invalid_option);
}

TEST_P(LoopArguments, MoveInChunksWhereEachDeviceHasItsPartToo) {
  for (const auto& how : {split::even(), split::weighted({3, 1})}) {
    scheduler sched(options(2));
    std::vector<double> x(1 << 20, 1.), y(x.size(), 2.);
    parallel_for(
        sched, x.size(), loop_options{how},
        [](std::int64_t i, view<const double> from, view<double> to) { to[i] += from[i] * double(i); }, in(x),
        inout(y));
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2. + double(i));
    if (sched.devices().front().kind == backend::host) continue;  // nothing moves
    for (const auto& each : sched.stats().devices) EXPECT_GE(each.ended, 2u) << each.id;
  }
}

TEST_P(LoopArguments, LargerThanTheDevicesMemoryMoveInPieces) {
  auto asked = options(2);
  limit_memory(GetParam(), asked, std::size_t{1} << 20);
  scheduler sched(std::move(asked));
  std::vector<double> x(1 << 20), y(1 << 20, 1.);  // 16 MiB over two devices of 1 MiB
  std::iota(x.begin(), x.end(), 0.);
  for (const auto& how : {loop_options(), loop_options{split::even()}}) {
    parallel_for(
        sched, x.size(), how,
        [](std::int64_t i, view<const double> from, view<double> to) { to[i] += from[i]; }, in(x), inout(y));
  }
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 1 + 2 * x[i]) << i;
}

}  // namespace
}  // namespace heddle::test
