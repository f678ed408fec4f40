// SPDX-License-Identifier: Apache-2.0
// Bodies that nvcc compiled, beside one of g++'s.
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bodies.hpp"
#include "support/contract.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(DeviceCode);

/// `n` zeros on the device, changed by `f`.
std::vector<float> changed(scheduler& sched, std::size_t n,
                           const std::function<void(device_context&, float*)>& f) {
  std::vector<float> numbers(n);
  sched
      .submit([&](device_context& c) {
        const auto there = c.scratch<float>(n);
        c.copy(there, numbers);
        f(c, there.data());
        c.copy(numbers, there);
      })
      .get();
  return numbers;
}

std::vector<float> counted_from(float first, std::size_t n) {
  std::vector<float> numbers(n);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

constexpr std::size_t many = 100003;

TEST_P(DeviceCode, OfAFunctorRuns) {
  scheduler sched(options(1));
  EXPECT_EQ(changed(sched, many, [](auto& c, float* out) { launch_by_nvcc(c.stream(), out, many, 1, 5); }),
            counted_from(5, many));
}

TEST_P(DeviceCode, OfALambdaRuns) {
  scheduler sched(options(1));
  EXPECT_EQ(changed(sched, many, [](auto& c, float* out) { launch_lambda(c.stream(), out, many, 7); }),
            counted_from(7, many));
}

TEST_P(DeviceCode, IsCalledOnceForEachIndexOfTwoAndThreeDimensions) {
  scheduler sched(options(1));
  EXPECT_EQ(changed(sched, 301 * 97,
                    [](auto& c, float* out) {
                      launch_over(c.stream(), out, {301, 97});
                    }),
            counted_from(0, 301 * 97));
  EXPECT_EQ(changed(sched, 11 * 7 * 13,
                    [](auto& c, float* out) {
                      launch_over(c.stream(), out, {11, 7, 13});
                    }),
            counted_from(0, 11 * 7 * 13));
}

TEST_P(DeviceCode, OfNoIndexIsNotCalled) {
  scheduler sched(options(1));
  EXPECT_EQ(changed(sched, 1, [](auto& c, float* out) { launch_lambda(c.stream(), out, 0, 7); }),
            std::vector<float>{0});
}

TEST_P(DeviceCode, AloneIsRefusedOnHostDevices) {
  scheduler sched(options(1));
  const auto launch = [&sched] {
    return changed(sched, many, [](auto& c, float* out) { launch_device_lambda(c.stream(), out, many, 7); });
  };
  if (on_host()) {
    EXPECT_THROW(launch(), invalid_option);
  } else if (GetParam().name == "gpu") {
    EXPECT_EQ(launch(), counted_from(7, many));
  } else {
    GTEST_SKIP() << "device code alone: no double runs it";
  }
}

TEST_P(DeviceCode, OfAKernelIsRefusedOnHostDevices) {
  HEDDLE_ON_HOST_DEVICES_ONLY("the refusal is theirs");
  scheduler sched(options(1));
  EXPECT_THROW(changed(sched, 1, [](auto& c, float* out) { put_kernel_on(c.stream(), out); }),
               invalid_option);
}

// One functor by two compilers: each launch is its own compiler's, whichever the linker met first.
void expect_own_launch(scheduler& sched, bool on_host,
                       const std::function<void(device_context&, float*)>& by_nvcc,
                       const std::function<void(device_context&, float*)>& by_gxx) {
  EXPECT_EQ(changed(sched, many, by_nvcc), counted_from(5, many));
  if (on_host) {
    EXPECT_EQ(changed(sched, many, by_gxx), counted_from(5, many));
  } else {
    EXPECT_THROW(changed(sched, many, by_gxx), no_device_code);
  }
}

TEST_P(DeviceCode, DoesNotMixWithThatOfAnotherCompiler) {
  scheduler sched(options(1));
  expect_own_launch(
      sched, on_host(), [](auto& c, float* out) { launch_by_nvcc(c.stream(), out, many, 1, 5); },
      [](auto& c, float* out) { launch_by_gxx(c.stream(), out, many, 1, 5); });
}

TEST_P(DeviceCode, DoesNotMixInTheShorthandOfTheContext) {
  scheduler sched(options(1));
  expect_own_launch(
      sched, on_host(), [](auto& c, float* out) { launch_in_context_by_nvcc(c, out, many, 1, 5); },
      [](auto& c, float* out) { launch_in_context_by_gxx(c, out, many, 1, 5); });
}

}  // namespace
}  // namespace heddle::test
