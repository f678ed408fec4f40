// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Copy);

template <class Target, class Source>
concept copyable_to = requires(const stream& s, Target&& to, Source&& from) {
  s.copy(std::forward<Target>(to), std::forward<Source>(from));
};

TEST_P(Copy, MovesElementsInStreamOrder) {
  scheduler sched(options(2));
  std::vector<int> from(1000);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> between(1000);
  std::vector<int> to(1000);
  sched
      .submit([&](device_context& c) {
        c.copy(between, from);
        c.launch(1000, [&between](std::int64_t i) { between[static_cast<std::size_t>(i)] *= 2; });
        c.copy(std::span(to), between);
      })
      .get();
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(to[static_cast<std::size_t>(k)], 2 * k);
}

TEST_P(Copy, RefusesDifferentSizes) {
  scheduler sched(options(2));
  std::vector<int> small(3);
  const std::vector<int> large(4);
  auto f = sched.submit([&](device_context& c) { c.copy(small, large); });
  EXPECT_THROW(f.get(), invalid_option);
}

TEST_P(Copy, OfNothingIsNothing) {
  scheduler sched(options(2));
  std::vector<int> none;
  sched.submit([&](device_context& c) { c.copy(none, std::span<const int>()); }).get();
}

TEST_P(Copy, TakesNoTemporaries) {
  static_assert(copyable_to<std::vector<int>&, const std::vector<int>&>);
  static_assert(copyable_to<std::span<int>, std::span<const int>>);
  static_assert(!copyable_to<std::vector<int>, std::vector<int>&>);
  static_assert(!copyable_to<std::vector<int>&, std::vector<int>>);
}

}  // namespace
}  // namespace heddle::test
