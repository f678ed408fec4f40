// SPDX-License-Identifier: Apache-2.0
// Indices beyond 32 bits, in memory that is reserved and never touched but where a test looks.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "kernels/axpy_body.hpp"
#include "kernels/fill_body.hpp"
#include "kernels/grid.hpp"
#include "kernels/image_body.hpp"
#include "kernels/reduce_body.hpp"
#include "kernels/stencil_2d_body.hpp"
#include "kernels/transpose_body.hpp"

namespace heddle::kernels {
namespace {

constexpr std::int64_t beyond = std::int64_t{1} << 32;

struct dims {
  unsigned x;
  unsigned y;
};

/// Zeros, most of which cost nothing.
template <class T>
class sparse {
 public:
  explicit sparse(std::int64_t size) : bytes_(static_cast<std::size_t>(size) * sizeof(T)) {
    void* const at =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) data_ = static_cast<T*>(at);
  }
  sparse(const sparse&) = delete;
  sparse& operator=(const sparse&) = delete;
  ~sparse() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

TEST(Indices, OfAThreadHave64Bits) {
  const auto at =
      place_of(dims{0x7fffffff - 1, 65534}, dims{0x7fffffff, 65535}, dims{1023, 3}, dims{1024, 4});
  EXPECT_EQ(at.x, std::int64_t{0x7ffffffe} * 1024 + 1023);
  EXPECT_EQ(at.y, 65534 * 4 + 3);
  EXPECT_EQ(at.step_x, std::int64_t{0x7fffffff} * 1024);
  EXPECT_EQ(at.step_y, 65535 * 4);
}

TEST(Indices, AreCoveredByAGridOfAnySize) {
  EXPECT_EQ(pieces_of(0, 32), 0);
  EXPECT_EQ(pieces_of(1, 32), 1);
  EXPECT_EQ(pieces_of(64, 32), 2);
  EXPECT_EQ(pieces_of(INT64_MAX, 2), std::int64_t{1} << 62);
  EXPECT_EQ(blocks_for(0, 256, 100), 1u);
  EXPECT_EQ(blocks_for(257, 256, 100), 2u);
  EXPECT_EQ(blocks_for(INT64_MAX, 256, most_blocks_x), 0x7fffffffu);
  EXPECT_EQ(blocks_for(beyond, 8, most_blocks_y), 65535u);
  EXPECT_EQ(blocks_for(1000, 256, 0), 1u);  // a device that tells of no multiprocessor
}

TEST(Indices, ReachBeyond32BitsOneByOne) {
  const sparse<float> x(beyond + 8);
  const sparse<float> y(beyond + 8);
  ASSERT_TRUE(x.data() != nullptr && y.data() != nullptr);
  // The last steps of a thread of a large grid.
  const thread_place at{beyond - 1024 + 5, 0, 1024, 1};
  fill_thread(at, 3, x.data(), beyond + 8);
  EXPECT_EQ(x[beyond + 5], 3);
  EXPECT_EQ(x[beyond + 4], 0);
  axpy_thread(at, 2, x.data(), y.data(), beyond + 8);
  EXPECT_EQ(y[beyond + 5], 6);
  EXPECT_EQ(y[5], 0);
}

TEST(Indices, ReachBeyond32BitsInASum) {
  const sparse<float> x(beyond + 600);
  ASSERT_NE(x.data(), nullptr);
  x[beyond + 256 + 7] = 4;
  EXPECT_EQ(lane_sum(x.data(), beyond + 600, 1, 7), 4);
  EXPECT_EQ(lane_sum(x.data(), beyond + 600, 0, 7), 0);
}

TEST(Indices, ReachBeyond32BitsInRows) {
  constexpr std::int64_t width = 1 << 17;
  constexpr std::int64_t height = (1 << 15) + 4;
  const sparse<float> in(width * height);
  const sparse<float> out(width * height);
  ASSERT_TRUE(in.data() != nullptr && out.data() != nullptr);
  constexpr std::int64_t row = (1 << 15) + 1;
  static_assert(row * width > beyond);
  in[row * width + 9] = 8;
  stencil_thread({10, row, width, height}, 0.25F, in.data(), out.data(), height, width);
  EXPECT_EQ(out[row * width + 10], 2);

  const tile_index at{row / tile_side, 0};
  transpose_tile(at, in.data(), out.data(), height, width);
  EXPECT_EQ(out[9 * height + row], 8);
  transpose_tile({0, row / tile_side}, in.data(), out.data(), width, height);  // its rows are short, and many
  in[31 * height + row] = 5;
  transpose_tile({0, row / tile_side}, in.data(), out.data(), width, height);
  EXPECT_EQ(out[row * width + 31], 5);
}

TEST(Indices, ReachBeyond32BitsInPictures) {
  constexpr int width = 1 << 16;
  constexpr int height = 1 << 15;
  constexpr std::int64_t bytes = std::int64_t{3} * width * height;
  static_assert(bytes > beyond);
  const sparse<std::uint8_t> in(bytes);
  const sparse<std::uint8_t> out(bytes);
  ASSERT_TRUE(in.data() != nullptr && out.data() != nullptr);
  const image_view from{in.data(), width, height};
  const image_target to{out.data(), width, height};
  in[bytes - 1] = 100;
  image_thread<resize_pixel>({width - 1, height - 1, width, height}, from, to);
  EXPECT_EQ(out[bytes - 1], 100);
  image_thread<filter_pixel<blur_filter>>({width - 1, height - 1, width, height}, from, to);
  EXPECT_EQ(out[bytes - 1], (100 * 11 * 11 + 128) >> 8);
  image_thread<filter_pixel<sharpen_filter>>({width - 1, height - 1, width, height}, from, to);
  EXPECT_EQ(out[bytes - 1], 100 + ((3 * (16 * 100 - 9 * 100) + 32) >> 6));
}

}  // namespace
}  // namespace heddle::kernels
