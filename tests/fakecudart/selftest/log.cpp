// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string>

#include "machine_test.hpp"

namespace {

class Log : public machine_test {};

TEST_F(Log, CallsAreCountedByName) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("cudaSetDevice"), 2);
  EXPECT_EQ(fakecuda_calls("cudaFree"), 0);
  EXPECT_GE(fakecuda_calls(nullptr), 2);
}

TEST_F(Log, EntriesTellApiThreadAndDevice) {
  fakecuda_log(1);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  unsigned long other = 0;
  on_new_thread([&] {
    other = static_cast<unsigned long>(::gettid());
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  });
  ASSERT_EQ(fakecuda_log_count(), 3);
  fakecuda_log_entry_t entry{};
  ASSERT_EQ(fakecuda_log_entry(1, &entry), 1);
  EXPECT_EQ(std::string(entry.api), "cudaFree");
  EXPECT_EQ(entry.thread, static_cast<unsigned long>(::gettid()));
  EXPECT_EQ(entry.device, 2);
  ASSERT_EQ(fakecuda_log_entry(2, &entry), 1);
  EXPECT_EQ(entry.thread, other);
  EXPECT_EQ(entry.device, -1) << "called with a null context";
  EXPECT_EQ(fakecuda_log_entry(3, &entry), 0);
  EXPECT_EQ(fakecuda_calls_on_thread("cudaFree", other), 1);
  EXPECT_EQ(fakecuda_calls_on_thread("cudaSetDevice", other), 0);
  fakecuda_log(0);
}

}  // namespace
