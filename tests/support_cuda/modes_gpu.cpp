// SPDX-License-Identifier: Apache-2.0
// The contract on the GPUs of this machine. HEDDLE_REQUIRE_GPU=1: none is a failure, not a reason to skip.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "support/driver_mode.hpp"

namespace heddle::test {

namespace {

// GTEST_SKIP only returns from the function that it is written in.
[[noreturn]] void skip(const std::string& why) {
  constexpr auto kind = testing::TestPartResult::kSkip;
  testing::internal::AssertHelper(kind, __FILE__, __LINE__, why.c_str()) = testing::Message();
  throw testing::AssertionException(testing::TestPartResult(kind, __FILE__, __LINE__, why.c_str()));
}

bool is_required() {
  const char* const required = std::getenv("HEDDLE_REQUIRE_GPU");
  return required != nullptr && std::string_view(required) == "1";
}

// What CUDA says, once.
const std::string& why_none() {
  static const std::string why = [] {
    try {
      (void)list_devices(backend::cuda);
      return std::string();
    } catch (const no_device& e) {
      return std::string(e.what());
    }
  }();
  return why;
}

}  // namespace

std::vector<driver_mode> all_modes() { return {{"gpu", backend::cuda}}; }

scheduler_options options_of(const driver_mode&, int devices) {
  const auto there = static_cast<int>(list_devices(backend::cuda).size());
  if (devices > there) {
    skip("documented, not measured: needs " + std::to_string(devices) + " GPUs, and there is " +
         std::to_string(there));
  }
  scheduler_options chosen;
  chosen.use = backend::cuda;
  for (int k = 0; k < devices; ++k) chosen.devices.push_back(std::to_string(k));
  return chosen;
}

void limit_memory(const driver_mode&, scheduler_options&, std::size_t) {
  skip("a GPU's memory cannot be capped");
}

void prepare_machine(const driver_mode&) {
  if (why_none().empty()) return;
  if (is_required()) FAIL() << "HEDDLE_REQUIRE_GPU is 1, but " << why_none();
  GTEST_SKIP() << why_none();
}

void check_machine(const driver_mode&) {}

}  // namespace heddle::test
