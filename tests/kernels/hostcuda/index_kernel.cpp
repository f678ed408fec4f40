// SPDX-License-Identifier: Apache-2.0
// The kernel of stream::launch, as it stands in heddle/detail/cuda_launch.hpp, and the grid it is launched
// with.
#include <cstdint>
#include <vector>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class IndexKernel : public cuda_double {
 protected:
  /// Launches a body that counts its calls for each flat index, and expects one call for each.
  template <std::size_t Rank, class Flat>
  void expect_one_call_each(extents<Rank> size, Flat flat) {
    std::vector<std::uint8_t> calls(static_cast<std::size_t>(size.size()) + 1);
    const long before = fakecuda_kernels_run(0);
    scheduler sched(gpus({0}));
    sched
        .submit([&](device_context& c) {
          c.launch(size, [flat, end = size.size(), calls = calls.data()](auto... indices) {
            const std::int64_t i = flat(indices...);
            ++calls[i >= 0 && i < end ? i : end];
          });
        })
        .get();
    EXPECT_EQ(fakecuda_kernels_run(0), before + 1);
    std::vector<std::uint8_t> expected(calls.size(), 1);
    expected.back() = 0;  // of indices beyond the end
    EXPECT_TRUE(calls == expected) << size.size();
  }
  void expect_one_call_each(std::int64_t n) {
    expect_one_call_each(extents{n}, [](std::int64_t i) { return i; });
  }
  void expect_one_call_each(std::int64_t ny, std::int64_t nx) {
    expect_one_call_each(extents{ny, nx},
                         [nx](std::int64_t y, std::int64_t x) { return x >= 0 && x < nx ? y * nx + x : -1; });
  }
  void expect_one_call_each(std::int64_t nz, std::int64_t ny, std::int64_t nx) {
    expect_one_call_each(extents{nz, ny, nx}, [ny, nx](std::int64_t z, std::int64_t y, std::int64_t x) {
      return x >= 0 && x < nx && y >= 0 && y < ny ? (z * ny + y) * nx + x : -1;
    });
  }
};

constexpr std::int64_t block = 256;
constexpr std::int64_t largest_grid = 132 * 32 * block;  // threads, on the multiprocessors of the double

TEST_F(IndexKernel, IsCalledOnceForEachIndexWhateverTheSize) {
  for (const std::int64_t n : {std::int64_t{1}, block - 1, block, block + 1, largest_grid - 1, largest_grid,
                               largest_grid + 1, 2 * largest_grid + 3})
    expect_one_call_each(n);
}

TEST_F(IndexKernel, IsCalledOnceForEachIndexOfTwoDimensions) {
  expect_one_call_each(1, 1);
  expect_one_call_each(1, 1000);
  expect_one_call_each(1000, 1);
  expect_one_call_each(3, largest_grid / 2);
  expect_one_call_each(largest_grid / 2, 3);
}

TEST_F(IndexKernel, IsCalledOnceForEachIndexOfThreeDimensions) {
  expect_one_call_each(1, 1, 1);
  expect_one_call_each(11, 7, 13);
  expect_one_call_each(2, 3, largest_grid / 4);
  expect_one_call_each(largest_grid / 4, 3, 2);
}

TEST_F(IndexKernel, GetsTheArgumentsOfTheLaunch) {
  std::vector<double> out(1000);
  scheduler sched(gpus({0}));
  sched
      .submit([&](device_context& c) {
        c.launch(
            1000,
            [out = out.data()](std::int64_t i, double a, int b) { out[i] = a * static_cast<double>(i) + b; },
            0.5, 7);
      })
      .get();
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 0.5 * static_cast<double>(i) + 7);
}

}  // namespace
}  // namespace heddle::test
