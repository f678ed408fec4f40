// SPDX-License-Identifier: Apache-2.0
// A build with the CUDA driver and without nvcc.
#include <chrono>
#include <functional>
#include <string>

#include "bodies.hpp"
#include "kernels/axpy.hpp"
#include "kernels/busy.hpp"
#include "kernels/fill.hpp"
#include "kernels/image.hpp"
#include "kernels/reduce.hpp"
#include "kernels/stencil_2d.hpp"
#include "kernels/transpose.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(NoDeviceCode);

TEST_P(NoDeviceCode, IsWhatEachFunctionSays) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        const auto x = c.scratch<float>(4);
        const auto sum = c.scratch<double>(1);
        const kernels::image_target picture{c.scratch<std::uint8_t>(3).data(), 1, 1};
        EXPECT_THROW(kernels::axpy(c, 1, x, x), no_device_code);
        EXPECT_THROW(kernels::busy(c, std::chrono::nanoseconds(1)), no_device_code);
        EXPECT_THROW(kernels::fill(c, 1, x), no_device_code);
        EXPECT_THROW(kernels::reduce(c, x, sum.first<1>()), no_device_code);
        EXPECT_THROW(kernels::stencil_2d(c, 1, x, x, extents{2, 2}), no_device_code);
        EXPECT_THROW(kernels::transpose(c, x, x, extents{2, 2}), no_device_code);
        for (const auto function : {kernels::resize, kernels::sharpen, kernels::blur, kernels::edges}) {
          EXPECT_THROW(function(c, picture.read(), picture), no_device_code);
        }
      })
      .get();
}

TEST_P(NoDeviceCode, IsWhatALaunchSays) {
  scheduler sched(options(1));
  sched
      .submit([](device_context& c) {
        EXPECT_THROW(launch_by_gxx(c.stream(), nullptr, 1, 1, 1), no_device_code);
        EXPECT_THROW(launch_in_context_by_gxx(c, nullptr, 1, 1, 1), no_device_code);
      })
      .get();
}

}  // namespace
}  // namespace heddle::test
