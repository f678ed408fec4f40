// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Starmap);

TEST_P(Starmap, SpreadsTuplesPairsAndArrays) {
  scheduler sched(options(2));
  const auto add = [](int a, int b) { return a + b; };
  EXPECT_EQ(sched.starmap(add, std::vector<std::tuple<int, int>>{{1, 2}, {3, 4}}), (std::vector<int>{3, 7}));
  EXPECT_EQ(sched.starmap(add, std::vector<std::pair<int, int>>{{1, 2}}), (std::vector<int>{3}));
  EXPECT_EQ(sched.starmap(add, std::vector<std::array<int, 2>>{{1, 2}}), (std::vector<int>{3}));
}

TEST_P(Starmap, PassesTheContextFirst) {
  scheduler sched(options(2));
  map_options how;
  how.route = route::on(1);
  const auto f = [](device_context& c, int a, const std::string& b) {
    return b + std::to_string(a + c.id());
  };
  EXPECT_EQ(sched.starmap(f, std::vector<std::tuple<int, std::string>>{{1, "x"}}, how),
            (std::vector<std::string>{"x2"}));
}

TEST_P(Starmap, MovesOutOfAnRvaluesTuples) {
  scheduler sched(options(2));
  std::vector<std::tuple<std::unique_ptr<int>, int>> in;
  in.emplace_back(std::make_unique<int>(4), 5);
  const auto out = sched.starmap([](std::unique_ptr<int> p, int x) { return *p * x; }, std::move(in));
  EXPECT_EQ(out, (std::vector<int>{20}));
}

}  // namespace
}  // namespace heddle::test
