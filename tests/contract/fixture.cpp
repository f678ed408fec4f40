// SPDX-License-Identifier: Apache-2.0
#include "support/contract.hpp"

#include <ostream>

#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <thread>

#include "support/counted.hpp"
#include "support/eventually.hpp"
#include "support/threads.hpp"

namespace heddle::test {

namespace {

// TBB makes its workers when they are first wanted, and threads inherit the name of who makes them: those of
// a device thread could not be told from it.
void make_workers_of_tbb() {
  if (tbb::info::default_concurrency() < 2) return;
  const auto here = std::this_thread::get_id();
  static std::atomic<bool> helped{false};
  eventually([&] {
    tbb::parallel_for(0, 100, [&](int) {
      if (std::this_thread::get_id() != here) helped = true;
    });
    return helped.load();
  });
}

}  // namespace

void contract::SetUp() {
  make_workers_of_tbb();
  ASSERT_FALSE(this_device::try_id().has_value());
  ASSERT_TRUE(eventually([] { return device_threads() == 0; })) << "of an earlier test";
  prepare_machine(GetParam());
}

void contract::TearDown() {
  EXPECT_FALSE(this_device::try_id().has_value()) << "the test's thread was left bound to a device";
  EXPECT_TRUE(eventually([] { return device_threads() == 0; })) << "device threads are left";
  EXPECT_EQ(counted::living(), 0) << "objects are left, or were destroyed twice";
  check_machine(GetParam());
}

void PrintTo(const driver_mode& mode, std::ostream* out) { *out << mode.name; }

std::string mode_name(const testing::TestParamInfo<driver_mode>& info) { return info.param.name; }

}  // namespace heddle::test
