// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fakecudart.h"
#include "heddle/heddle.hpp"

namespace heddle::test {

inline constexpr std::size_t double_bytes = std::size_t{1} << 30;

/// Nothing of heddle is left on the machine of the double, and it was used as CUDA's documentation says.
/// `machine_devices` of it; contexts may be on `used` alone.
void expect_clean_double(int machine_devices, const std::set<int>& used);

/// A test on a machine of GPUs that is made for it, and checked afterwards.
class cuda_double : public testing::Test {
 protected:
  /// Before the first scheduler, if not 4.
  void machine(int devices, std::size_t bytes = double_bytes);
  /// Options for these GPUs, by CUDA's index.
  scheduler_options gpus(std::vector<int> which);
  /// The check of TearDown is not for tests whose devices fail on purpose.
  void leave_unchecked() { checked_ = false; }

  void SetUp() override { machine(4); }
  void TearDown() override;

 private:
  int devices_ = 0;
  bool checked_ = true;
  std::set<int> used_;
};

}  // namespace heddle::test
