// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fakecudart.h"
#include "support/driver_mode.hpp"
#include "support_cuda/double_machine.hpp"

namespace heddle::test {

namespace {
constexpr int machine_devices = 8;
std::set<int> asked_for;  // CUDA's indices of the devices that the test's schedulers were given
}  // namespace

std::vector<driver_mode> all_modes() {
  driver_mode first{"double", backend::cuda};
  driver_mode last{"double_backwards", backend::cuda};
  last.last_first = true;
  return {first, last};
}

scheduler_options options_of(const driver_mode& mode, int devices) {
  scheduler_options chosen;
  chosen.use = backend::cuda;
  for (int k = 0; k < devices; ++k) {
    const int device = mode.last_first ? machine_devices - 1 - k : k;
    chosen.devices.push_back(std::to_string(device));
    asked_for.insert(device);
  }
  return chosen;
}

void limit_memory(const driver_mode&, scheduler_options&, std::size_t bytes) {
  for (const int device : asked_for) fakecuda_limit_memory(device, bytes);
}

void prepare_machine(const driver_mode&) {
  ASSERT_EQ(fakecuda_is_fake(), 1);
  fakecuda_reset(machine_devices, double_bytes);
  asked_for.clear();
}

void check_machine(const driver_mode&) {
  expect_clean_double(machine_devices, asked_for);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "an error of heddle's own is left in the slot";
}

}  // namespace heddle::test
