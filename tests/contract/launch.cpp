// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Launch);

TEST_P(Launch, CallsEachIndexOfOneDimensionOnce) {
  scheduler sched(options(2));
  for (const int n : {0, 1, 2, 3, 1000, 4097}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(n));
    sched
        .submit([&](device_context& c) {
          c.launch(n, [&hits](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
        })
        .get();
    for (const auto& each : hits) ASSERT_EQ(each, 1);
  }
}

TEST_P(Launch, CallsEachIndexOfTwoDimensionsOnce) {
  scheduler sched(options(2));
  constexpr int ny = 37;
  constexpr int nx = 53;
  std::vector<std::atomic<int>> hits(ny * nx);
  sched
      .submit([&](device_context& c) {
        c.launch(extents{ny, nx}, [&hits, ny, nx](std::int64_t y, std::int64_t x) {
          ASSERT_TRUE(y >= 0 && y < ny && x >= 0 && x < nx);
          ++hits[static_cast<std::size_t>(y * nx + x)];
        });
      })
      .get();
  for (const auto& each : hits) ASSERT_EQ(each, 1);
}

TEST_P(Launch, CallsEachIndexOfThreeDimensionsOnce) {
  scheduler sched(options(2));
  for (const auto& [nz, ny, nx] : {std::array{3, 5, 7}, std::array{1, 1, 900}, std::array{900, 1, 1}}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(nz * ny * nx));
    sched
        .submit([&, sizes = extents{nz, ny, nx}](device_context& c) {
          c.launch(sizes, [&hits, sizes](std::int64_t z, std::int64_t y, std::int64_t x) {
            ++hits[static_cast<std::size_t>((z * sizes[1] + y) * sizes[2] + x)];
          });
        })
        .get();
    for (const auto& each : hits) ASSERT_EQ(each, 1);
  }
}

TEST_P(Launch, OfAnEmptyDimensionCallsNothing) {
  scheduler sched(options(2));
  sched
      .submit([](device_context& c) {
        c.launch(extents{0, 5}, [](std::int64_t, std::int64_t) { FAIL(); });
        c.launch(extents{5, 0}, [](std::int64_t, std::int64_t) { FAIL(); });
        c.launch(extents{5, 5, 0}, [](std::int64_t, std::int64_t, std::int64_t) { FAIL(); });
      })
      .get();
}

TEST_P(Launch, RefusesSizesThatAreNone) {
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    const auto nothing = [](std::int64_t) { FAIL(); };
    EXPECT_THROW(c.launch(-1, nothing), invalid_option);
    EXPECT_THROW(c.launch(std::numeric_limits<std::uint64_t>::max(), nothing), invalid_option);
  });
  f.get();
  EXPECT_THROW((extents{std::int64_t{1} << 40, std::int64_t{1} << 40}), invalid_option);
  EXPECT_THROW((extents{2, -2}), invalid_option);
  EXPECT_THROW((extents{-2, -2}), invalid_option);
  EXPECT_EQ((extents{std::int64_t{1} << 40, 0, std::int64_t{1} << 40}).size(), 0);
  EXPECT_EQ((extents{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).size(), 0);
}

TEST_P(Launch, PassesArgumentsByCopy) {
  scheduler sched(options(2));
  std::atomic<int> sum{0};
  sched
      .submit([&sum](device_context& c) {
        int factor = 3;
        c.launch(
            10,
            [&sum](std::int64_t i, int f, const std::string& s) {
              sum += static_cast<int>(i) * f + static_cast<int>(s.size());
            },
            factor, std::string("ab"));
        factor = 1000;
      })
      .get();
  EXPECT_EQ(sum, 45 * 3 + 20);
}

TEST_P(Launch, RunsOnItsOwnDevice) {
  HEDDLE_ON_HOST_DEVICES_ONLY("device code has no thread of heddle's");
  scheduler sched(options(2));
  std::atomic<int> wrong{0};
  for (auto& each : sched.broadcast([&wrong](device_context& c) {
         c.launch(500, [&wrong, id = c.id()](std::int64_t) {
           if (this_device::try_id() != id) ++wrong;
         });
       })) {
    each.get();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Launch, FailsTheItemWithWhatItsBodyThrows) {
  HEDDLE_ON_HOST_DEVICES_ONLY("device code cannot throw");
  scheduler sched(options(2));
  auto f = sched.submit([](device_context& c) {
    c.launch(100, [](std::int64_t i) {
      if (i == 50) throw std::out_of_range("fifty");
    });
  });
  EXPECT_THROW(f.get(), std::out_of_range);
}

}  // namespace
}  // namespace heddle::test
