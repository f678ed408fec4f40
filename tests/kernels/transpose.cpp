// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose.hpp"

#include <array>
#include <cstdint>

#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Transpose);

TEST_P(Transpose, TurnsEverySize) {
  scheduler sched(options(1));
  for (const auto& [height, width] :
       {std::array{0, 4}, std::array{1, 1}, std::array{1, 100}, std::array{100, 1}, std::array{32, 32},
        std::array{33, 95}, std::array{257, 65}}) {
    const auto in = numbers(static_cast<std::size_t>(height * width));
    std::vector<float> result(in.size(), -1);
    sched
        .submit([&, size = extents{height, width}](device_context& c) {
          const auto there = c.scratch<float>(in.size());
          kernels::transpose(c, uploaded(c, in), there, size);
          c.copy(result, there);
        })
        .get();
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        ASSERT_EQ(result[static_cast<std::size_t>(x * height + y)],
                  in[static_cast<std::size_t>(y * width + x)])
            << y << ' ' << x;
      }
    }
  }
}

TEST_P(Transpose, RefusesARangeOfAnotherSize) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        const auto in = c.scratch<float>(12);
        const auto out = c.scratch<float>(12);
        EXPECT_THROW(kernels::transpose(c, in, out.first(11), extents{3, 4}), invalid_option);
      })
      .get();
}

}  // namespace
}  // namespace heddle::test
