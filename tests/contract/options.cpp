// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <string>

#include "support/contract.hpp"
#include "support/eventually.hpp"

namespace heddle::test {
namespace {

HEDDLE_CONTRACT_SUITE(Options);

TEST_P(Options, OutOfRangeAreRefusedByName) {
  const auto refused = [](auto set, const char* name) {
    auto chosen = options(2);
    set(chosen);
    try {
      const scheduler sched(chosen);
      ADD_FAILURE() << name << " was accepted";
    } catch (const invalid_option& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
  };
  refused([](auto& o) { o.arena_threads = 2; }, "arena_threads");
  refused([](auto& o) { o.arena_threads = -3; }, "arena_threads");
  refused([](auto& o) { o.streams_per_device = 65; }, "streams_per_device");
  refused([](auto& o) { o.streams_per_device = -1; }, "streams_per_device");
  refused([](auto& o) { o.window_per_stream = 1025; }, "window_per_stream");
  refused([](auto& o) { o.window_per_stream = -1; }, "window_per_stream");
  refused([](auto& o) { o.queue_capacity = 0; }, "queue_capacity");
  refused([](auto& o) { o.host.devices = -1; }, "devices");
  refused([](auto& o) { o.devices = {"777"}; }, "777");
  refused([](auto& o) { o.devices = {"host:999"}; }, "host:999");
  refused([](auto& o) { o.devices = {"nonsense"}; }, "nonsense");
  refused([](auto& o) { o.devices = {"0", "0"}; }, "0");
  refused([](auto& o) { o.use = static_cast<backend>(9); }, "use");
}

TEST_P(Options, ThatAskForCudaAreRefusedWithoutIt) {
  HEDDLE_ON_HOST_DEVICES_ONLY("there are CUDA devices");
  auto chosen = options(2);
  chosen.use = backend::cuda;
  EXPECT_THROW(scheduler{chosen}, no_device);
  EXPECT_THROW((void)list_devices(backend::cuda), no_device);
}

TEST_P(Options, ChooseDevicesInTheOrderGiven) {
  HEDDLE_ON_HOST_DEVICES_ONLY("by their names");
  auto chosen = options(4);
  chosen.devices = {"host:3", "HOST-1"};
  scheduler sched(chosen);
  ASSERT_EQ(sched.devices().size(), 2u);
  EXPECT_EQ(sched.devices()[0].ordinal, 3);
  EXPECT_EQ(sched.devices()[1].ordinal, 1);
  EXPECT_EQ(sched.devices()[0].id, 0);
  EXPECT_EQ(sched.submit([] { return this_device::info().uuid; }, route::on(1)).get(), "HOST-1");
}

TEST_P(Options, AtTheirLimitsWork) {
  auto chosen = options(1);
  chosen.streams_per_device = 64;
  chosen.window_per_stream = 1024;
  chosen.arena_threads = 3;
  chosen.queue_capacity = 1;
  scheduler sched(chosen);
  for (int k = 0; k < 200; ++k) EXPECT_EQ(sched.submit([k] { return k; }).get(), k);
}

TEST_P(Options, OnErrorThatThrowsOrDropsErrorsItselfHarmsNothing) {
  auto chosen = options(2);
  std::atomic<int> told{0};
  scheduler* self = nullptr;
  chosen.on_error = [&](const error_event&) {
    ++told;
    (void)self->submit([] {});
    throw std::runtime_error("from on_error");
  };
  scheduler sched(chosen);
  self = &sched;
  testing::internal::CaptureStderr();
  for (int k = 0; k < 3; ++k) (void)sched.submit([] { throw 1; });
  EXPECT_TRUE(eventually([&] { return told == 3; }));
  sched.drain();
  (void)testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace heddle::test
