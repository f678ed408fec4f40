// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "filters.hpp"
#include "resize.hpp"
#include "tests/samples.hpp"

namespace image_batch {
namespace {

image apply(row_function compute, const image& in, picture_size size, bool backwards = false) {
  image out(size.width, size.height);
  for (int k = 0; k < size.height; ++k) compute(in.view(), out.target(), backwards ? size.height - 1 - k : k);
  return out;
}

// The same by blowing the picture up to a common multiple of both sizes and averaging whole blocks of it.
image resized_by_blocks(const image& in, picture_size size) {
  image out(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        long sum = 0;
        for (int v = 0; v < in.height; ++v) {
          for (int u = 0; u < in.width; ++u) {
            sum += in.view().row((y * in.height + v) / size.height)[(x * in.width + u) / size.width * 3 + c];
          }
        }
        const long area = long{in.width} * in.height;
        out.target().row(y)[x * 3 + c] = static_cast<std::uint8_t>((sum + area / 2) / area);
      }
    }
  }
  return out;
}

TEST(Resize, AveragesWhatEachPixelCovers) {
  for (const picture_size from : {picture_size{1, 1}, {2, 3}, {7, 5}, {12, 9}, {31, 17}}) {
    const auto in = samples::noise(from.width, from.height);
    for (int width = 1; width <= from.width; width += 3) {
      for (int height = 1; height <= from.height; height += 2) {
        ASSERT_EQ(apply(resize_row, in, {width, height}), resized_by_blocks(in, {width, height}))
            << from.width << " x " << from.height << " to " << width << " x " << height;
      }
    }
  }
}

TEST(Resize, KeepsAPictureOfTheSameSize) {
  const auto in = samples::noise(19, 11);
  EXPECT_EQ(apply(resize_row, in, {19, 11}), in);
}

TEST(Resize, KeepsPureWhite) {
  image in(1001, 333);
  std::fill(in.pixels.begin(), in.pixels.end(), std::uint8_t{255});
  const auto out = apply(resize_row, in, {97, 31});
  EXPECT_EQ(std::count(out.pixels.begin(), out.pixels.end(), 255), std::ssize(out.pixels));
}

TEST(Fit, KeepsTheShapeAndNeverEnlarges) {
  EXPECT_EQ(fit({4000, 3000}, {1024, 1024}), (picture_size{1024, 768}));
  EXPECT_EQ(fit({3000, 4000}, {1024, 1024}), (picture_size{768, 1024}));
  EXPECT_EQ(fit({640, 480}, {1024, 1024}), (picture_size{640, 480}));
  EXPECT_EQ(fit({100000, 1}, {10, 10}), (picture_size{10, 1}));
  EXPECT_EQ(fit({1, 100000}, {10, 10}), (picture_size{1, 10}));
}

TEST(Fit, FillsTheBoxInOneDirection) {
  for (int width = 1; width < 60; ++width) {
    for (int height = 1; height < 60; ++height) {
      const auto size = fit({width, height}, {16, 12});
      ASSERT_LE(size.width, 16);
      ASSERT_LE(size.height, 12);
      ASSERT_TRUE((size == picture_size{width, height}) || size.width == 16 || size.height == 12);
    }
  }
}

using sample_at = std::function<double(int x, int y)>;

// Any filter, in floating point: `value` sees the nearest pixel beyond the border.
image filtered(const image& in, const std::function<double(const sample_at&, int x, int y)>& value) {
  image out(in.width, in.height);
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const sample_at at = [&](int u, int v) {
          return in.view().row(std::clamp(v, 0, in.height - 1))[std::clamp(u, 0, in.width - 1) * 3 + c];
        };
        out.target().row(y)[x * 3 + c] =
            static_cast<std::uint8_t>(std::clamp(std::floor(value(at, x, y) + 0.5), 0.0, 255.0));
      }
    }
  }
  return out;
}

double binomial_mean(const sample_at& at, int x, int y, const std::vector<double>& weights) {
  const int reach = static_cast<int>(weights.size()) / 2;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (int v = -reach; v <= reach; ++v) {
    for (int u = -reach; u <= reach; ++u) {
      sum += weights[static_cast<std::size_t>(u + reach)] * weights[static_cast<std::size_t>(v + reach)] *
             at(x + u, y + v);
    }
  }
  return sum / (all * all);
}

const std::vector<picture_size> odd_sizes{{1, 1}, {1, 7}, {7, 1}, {2, 2}, {33, 21}};

TEST(Sharpen, AddsThreeQuartersOfTheDifferenceToABlur) {
  for (const auto size : odd_sizes) {
    const auto in = samples::noise(size.width, size.height);
    EXPECT_EQ(apply(row_of(operation::sharpen), in, size), filtered(in, [](const auto& at, int x, int y) {
                return at(x, y) + 0.75 * (at(x, y) - binomial_mean(at, x, y, {1, 2, 1}));
              }));
  }
}

TEST(Blur, IsABinomialMean) {
  for (const auto size : odd_sizes) {
    const auto in = samples::noise(size.width, size.height);
    EXPECT_EQ(apply(row_of(operation::blur), in, size), filtered(in, [](const auto& at, int x, int y) {
                return binomial_mean(at, x, y, {1, 4, 6, 4, 1});
              }));
  }
}

TEST(Edges, AreBlackInAFlatPicture) {
  image in(9, 5);
  std::fill(in.pixels.begin(), in.pixels.end(), std::uint8_t{77});
  EXPECT_EQ(apply(row_of(operation::edges), in, {9, 5}), image(9, 5));
}

TEST(Edges, AreBrightWhereColoursMeet) {
  const auto out = apply(row_of(operation::edges), samples::quarters(16, 16), {16, 16});
  EXPECT_EQ(out.view().row(3)[7 * 3 + 1], 255);  // red meets green
  EXPECT_EQ(out.view().row(3)[3 * 3 + 1], 0);
}

TEST(NoOperation, CopiesThePicture) {
  const auto in = samples::noise(9, 5);
  EXPECT_EQ(apply(row_of(operation::none), in, {9, 5}), in);
}

TEST(RowFunctions, GiveTheSameInAnyOrderOfRows) {
  const auto in = samples::noise(50, 40);
  for (const auto what : {operation::sharpen, operation::blur, operation::edges, operation::none}) {
    EXPECT_EQ(apply(row_of(what), in, {50, 40}), apply(row_of(what), in, {50, 40}, true));
  }
  EXPECT_EQ(apply(resize_row, in, {20, 16}), apply(resize_row, in, {20, 16}, true));
}

}  // namespace
}  // namespace image_batch
