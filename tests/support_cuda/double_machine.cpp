// SPDX-License-Identifier: Apache-2.0
#include "support_cuda/double_machine.hpp"

#include "support/eventually.hpp"

namespace heddle::test {

void expect_clean_double(int machine_devices, const std::set<int>& used) {
  // A scheduler that ends inside its own item is taken apart by a thread that nobody waits for.
  eventually([&] {
    long refs = 0;
    for (int device = 0; device < machine_devices; ++device) refs += fakecuda_primary_refs(device);
    return refs == 0;
  });
  char text[512] = "";
  EXPECT_EQ(fakecuda_misuse(text, sizeof text), 0) << text;
  const auto live = fakecuda_live(-1);
  EXPECT_EQ(live.streams, 0);
  EXPECT_EQ(live.events, 0);
  EXPECT_EQ(live.pools, 0);
  EXPECT_EQ(live.device_allocs, 0);
  EXPECT_EQ(live.host_allocs, 0);
  for (int device = 0; device < machine_devices; ++device) {
    if (used.count(device) == 0) {
      EXPECT_EQ(fakecuda_contexts_made(device), 0) << "a context on device " << device;
    }
    EXPECT_EQ(fakecuda_primary_refs(device), 0) << "device " << device;
    EXPECT_EQ(fakecuda_default_pool_touched(device), 0) << "device " << device;
  }
  EXPECT_EQ(fakecuda_context_depth(), 0) << "this thread was left with a context";
}

void cuda_double::machine(int devices, std::size_t bytes) {
  ASSERT_EQ(fakecuda_is_fake(), 1);
  fakecuda_reset(devices, bytes);
  devices_ = devices;
}

scheduler_options cuda_double::gpus(std::vector<int> which) {
  scheduler_options chosen;
  chosen.use = backend::cuda;
  for (const int device : which) chosen.devices.push_back(std::to_string(device));
  used_.insert(which.begin(), which.end());
  return chosen;
}

void cuda_double::TearDown() {
  if (checked_) expect_clean_double(devices_, used_);
  fakecuda_reset(1, double_bytes);  // no fault or switch is left for the next one
}

}  // namespace heddle::test
