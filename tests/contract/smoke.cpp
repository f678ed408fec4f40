// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include "heddle/heddle.hpp"
TEST(Smoke, StarmapTellsIds) {
  heddle::scheduler sched(heddle::scheduler_options{});
  auto out = sched.starmap([](int a, int b) { return std::tuple{heddle::this_device::id(), a * b}; },
                           std::vector<std::tuple<int, int>>{{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(std::get<1>(out[2]), 30);
  auto f = sched.submit([] { return 1; }).then([](int x) { return x + 1; });
  EXPECT_EQ(f.get(), 2);
  heddle::device_local m(sched, [](heddle::device_context& d) { return d.id() * 10; });
  auto g = sched.submit([&](heddle::device_context& d) { return m[d]; }, heddle::route::on(1));
  EXPECT_EQ(g.get(), 10);
  int sum = 0;
  for (int x : sched.imap([](int a) { return a * a; }, std::views::iota(0, 100))) sum += x;
  EXPECT_EQ(sum, 328350);
  sum = 0;
  for (int x : sched.imap_unordered([](int a) { return a * a; }, std::views::iota(0, 100))) sum += x;
  EXPECT_EQ(sum, 328350);
}
