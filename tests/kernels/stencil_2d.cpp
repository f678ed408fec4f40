// SPDX-License-Identifier: Apache-2.0
#include "kernels/stencil_2d.hpp"

#include <array>
#include <cstdint>

#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Stencil2d);

TEST_P(Stencil2d, GivesTheSameBitsEverywhere) {
  scheduler sched(options(1));
  for (const auto& [height, width] :
       {std::array{0, 9}, std::array{1, 1}, std::array{1, 70}, std::array{70, 1}, std::array{61, 131}}) {
    const auto in = numbers(static_cast<std::size_t>(height * width));
    std::vector<float> result(in.size());
    sched
        .submit([&, size = extents{height, width}](device_context& c) {
          const auto there = c.scratch<float>(in.size());
          kernels::stencil_2d(c, 0.2F, uploaded(c, in), there, size);
          c.copy(result, there);
        })
        .get();
    const auto at = [&, w = width](int y, int x) { return in[static_cast<std::size_t>(y * w + x)]; };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        float expected = at(y, x);
        if (y > 0 && x > 0 && y < height - 1 && x < width - 1) {
          const volatile float fourfold = 4 * at(y, x);
          const volatile float change =
              0.2F * (((at(y - 1, x) + at(y + 1, x)) + (at(y, x - 1) + at(y, x + 1))) - fourfold);
          expected += change;
        }
        ASSERT_EQ(result[static_cast<std::size_t>(y * width + x)], expected) << y << ' ' << x;
      }
    }
  }
}

TEST_P(Stencil2d, RefusesARangeOfAnotherSize) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        const auto in = c.scratch<float>(12);
        const auto out = c.scratch<float>(12);
        EXPECT_THROW(kernels::stencil_2d(c, 1, in, out.first(11), extents{3, 4}), invalid_option);
        EXPECT_THROW(kernels::stencil_2d(c, 1, in.first(11), out, extents{3, 4}), invalid_option);
      })
      .get();
}

}  // namespace
}  // namespace heddle::test
