// SPDX-License-Identifier: Apache-2.0
// Byte for byte what examples/image_batch computes.
#include "kernels/image.hpp"

#include <cstdint>

#include "image_batch/filters.hpp"
#include "image_batch/image.hpp"
#include "image_batch/resize.hpp"
#include "on_device.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Image);

image_batch::image noise(int width, int height) {
  image_batch::image made(width, height);
  std::uint32_t state = 12345;
  for (auto& each : made.pixels) {
    state = state * 1664525u + 1013904223u;
    each = static_cast<std::uint8_t>(state >> 24);
    if (state % 5 == 0) each = state % 2 == 0 ? 0 : 255;  // flat places, and clamping
  }
  return made;
}

std::vector<std::uint8_t> made_by(scheduler& sched, kernels::image_function function,
                                  const image_batch::image& in, int width, int height) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  sched
      .submit([&](device_context& c) {
        const auto out = c.scratch<std::uint8_t>(result.size());
        function(c, {uploaded(c, in.pixels).data(), in.width, in.height}, {out.data(), width, height});
        c.copy(result, out);
      })
      .get();
  return result;
}

std::vector<std::uint8_t> made_by(image_batch::row_function function, const image_batch::image& in, int width,
                                  int height) {
  image_batch::image out(width, height);
  for (int y = 0; y < height; ++y) function(in.view(), out.target(), y);
  return out.pixels;
}

struct size {
  int width;
  int height;
};
constexpr size sizes[] = {{1, 1}, {1, 17}, {17, 1}, {2, 3}, {64, 48}, {37, 101}};

TEST_P(Image, IsResizedToTheSameBytes) {
  scheduler sched(options(1));
  for (const auto& [width, height] : sizes) {
    const auto in = noise(width, height);
    for (const auto& [w, h] : {size{1, 1}, size{width, height}, size{(width + 1) / 2, (height + 2) / 3},
                               size{13, 29}, size{width * 2, height + 1}}) {
      EXPECT_EQ(made_by(sched, kernels::resize, in, w, h), made_by(image_batch::resize_row, in, w, h))
          << width << " x " << height << " to " << w << " x " << h;
    }
  }
}

TEST_P(Image, IsFilteredToTheSameBytes) {
  using image_batch::operation;
  scheduler sched(options(1));
  for (const auto& [width, height] : sizes) {
    const auto in = noise(width, height);
    EXPECT_EQ(made_by(sched, kernels::sharpen, in, width, height),
              made_by(row_of(operation::sharpen), in, width, height));
    EXPECT_EQ(made_by(sched, kernels::blur, in, width, height),
              made_by(row_of(operation::blur), in, width, height));
    EXPECT_EQ(made_by(sched, kernels::edges, in, width, height),
              made_by(row_of(operation::edges), in, width, height));
  }
}

TEST_P(Image, IsRefusedWithSidesThatAreNone) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        std::uint8_t pixels[12] = {};
        const kernels::image_view in{pixels, 2, 2};
        EXPECT_THROW(kernels::resize(c, in, {pixels, 0, 2}), invalid_option);
        EXPECT_THROW(kernels::resize(c, {pixels, 2, -1}, {pixels, 2, 2}), invalid_option);
        for (const auto function : {kernels::sharpen, kernels::blur, kernels::edges}) {
          EXPECT_THROW(function(c, in, {pixels, 1, 2}), invalid_option);
          EXPECT_THROW(function(c, {pixels, 0, 0}, {pixels, 0, 0}), invalid_option);
        }
      })
      .get();
}

}  // namespace
}  // namespace heddle::test
