// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support_cuda/double_machine.hpp"

namespace heddle::test {
namespace {

class Discovery : public cuda_double {
 protected:
  // What a request for CUDA devices is refused with.
  static std::string refusal() {
    try {
      (void)list_devices(backend::cuda);
    } catch (const no_device& e) {
      return e.what();
    }
    return "";
  }
  static bool says(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
  }
};

TEST_F(Discovery, ListsWhatCudaKnowsAndMakesNoContext) {
  fakecuda_set_name(1, "Some GPU");
  fakecuda_set_pci(1, "0000:3B:00.0");
  fakecuda_set_numa(1, 3);
  unsigned char uuid[16] = {0x89, 0x32, 0xaB, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xff};
  fakecuda_set_uuid(1, uuid);
  fakecuda_set_peer(1, 2, 0);
  const auto all = list_devices(backend::cuda);
  ASSERT_EQ(all.size(), 4u);
  const auto& info = all[1];
  EXPECT_EQ(info.id, 1);
  EXPECT_EQ(info.cuda_device, 1);
  EXPECT_EQ(info.kind, backend::cuda);
  EXPECT_EQ(info.name, "Some GPU");
  EXPECT_EQ(info.uuid, "GPU-8932ab01-0203-0405-0607-08090a0b0cff");
  EXPECT_EQ(info.pci_bus_id, "0000:3b:00.0") << "as sysfs writes it";
  EXPECT_EQ(info.numa_node, 3);
  EXPECT_EQ(info.memory_bytes, double_bytes);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.compute_capability, 90);
  EXPECT_EQ(info.peers, (std::vector<int>{0, 3}));
}

// Source: ai-dynamo/dynamo#3700: -1 of sysfs or CUDA taken for a node.
TEST_F(Discovery, KnowsNoNodeWhereCudaAndTheSystemKnowNone) {
  fakecuda_set_numa(0, -1);
  fakecuda_set_pci(0, "fffe:fe:1f.7");
  EXPECT_FALSE(list_devices(backend::cuda)[0].numa_node);
}

TEST_F(Discovery, IsTheSameByAutomatic) { EXPECT_EQ(list_devices(), list_devices(backend::cuda)); }

// Source: MeshInspector/MeshLib#6335: missing and old driver give the same error.
TEST_F(Discovery, TellsWhyThereIsNone) {
  fakecuda_driver_version(0);
  const auto missing = refusal();
  EXPECT_TRUE(says(missing, "no NVIDIA driver is installed")) << missing;
  fakecuda_driver_version(12040);
  const auto old = refusal();
  EXPECT_TRUE(says(old, "too old") && says(old, "12.4") && says(old, "13.0")) << old;
  fakecuda_reset(0, double_bytes);
  const auto none = refusal();
  EXPECT_TRUE(says(none, "shows no device")) << none;
  fakecuda_reset(1, double_bytes);
  fakecuda_stub_library(1);
  const auto stub = refusal();
  EXPECT_TRUE(says(stub, "stub")) << stub;
  fakecuda_reset(1, double_bytes);
  fakecuda_inject("cudaGetDeviceCount", -1, 0, 1000, cudaErrorDevicesUnavailable);
  const auto other = refusal();
  EXPECT_TRUE(says(other, "cudaErrorDevicesUnavailable")) << other;
}

// Sources: areal-project/AReaL#38, gpustack/gpustack#1633: a home-made reading of the mask. CUDA applies it;
// heddle says what it was.
TEST_F(Discovery, QuotesTheMaskAndLeavesItToCuda) {
  ::setenv("CUDA_VISIBLE_DEVICES", "NoDevFiles", 1);
  EXPECT_EQ(list_devices(backend::cuda).size(), 4u)
      << "the double shows four, and heddle does not know better";
  fakecuda_reset(0, double_bytes);
  const auto none = refusal();
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(says(none, "CUDA_VISIBLE_DEVICES is \"NoDevFiles\"")) << none;
  scheduler_options host;
  host.use = backend::host;
  EXPECT_EQ(scheduler(host).devices().size(), list_devices(backend::host).size());
}

// Source: colmap/colmap#1334: the count is read though the call failed.
TEST_F(Discovery, CountsNoneWhereTheCallFails) {
  fakecuda_inject("cudaGetDeviceCount", -1, 0, 1, cudaErrorInitializationError);
  try {
    (void)list_devices(backend::cuda);
    FAIL();
  } catch (const no_device& e) {
    EXPECT_NE(std::string(e.what()).find("fork first"), std::string::npos) << e.what();
  }
  EXPECT_EQ(list_devices(backend::cuda).size(), 4u);
}

TEST_F(Discovery, HostDevicesMayBeNamedInAnyCaseBesideGpus) {
  for (const char* name : {"host:0", "Host:0", "HOST:0"}) {
    scheduler_options chosen;
    chosen.devices = {name};
    EXPECT_EQ(scheduler(chosen).devices().front().kind, backend::host);
  }
}

TEST_F(Discovery, FallsBackToHostDevicesAndSaysSoOnce) {
  fakecuda_driver_version(0);
  testing::internal::CaptureStderr();
  scheduler_options chosen;
  chosen.host.devices = 2;
  for (int k = 0; k < 3; ++k) {
    scheduler sched(chosen);
    EXPECT_EQ(sched.submit([] { return this_device::info().kind; }).get(), backend::host);
  }
  const auto said = testing::internal::GetCapturedStderr();
  const auto first = said.find("heddle: running on host devices, since no NVIDIA driver");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("heddle:", first + 1), std::string::npos) << said;
}

TEST_F(Discovery, GivesHostDevicesByNameBesideGpus) {
  scheduler_options chosen;
  chosen.host.devices = 2;
  chosen.devices = {"host:1"};
  scheduler sched(chosen);
  EXPECT_EQ(sched.devices()[0].uuid, "HOST-1");
}

TEST_F(Discovery, SelectsByIndexUuidAndPciAddress) {
  fakecuda_set_pci(3, "0000:5e:00.0");
  unsigned char uuid[16] = {0xde, 0xad};
  fakecuda_set_uuid(2, uuid);
  auto chosen = gpus({3, 2, 1});
  chosen.devices = {"5E:00.0", "GPU-dead", "cuda:1"};
  scheduler sched(chosen);
  ASSERT_EQ(sched.devices().size(), 3u);
  EXPECT_EQ(sched.devices()[0].cuda_device, 3);
  EXPECT_EQ(sched.devices()[1].cuda_device, 2);
  EXPECT_EQ(sched.devices()[2].cuda_device, 1);
  EXPECT_EQ(sched.devices()[0].id, 0) << "gpu ids count from 0 whatever CUDA's index is";
  int current = -1;
  sched.submit([&] { (void)cudaGetDevice(&current); }, route::on(0)).get();
  EXPECT_EQ(current, 3);
}

// Source: two first callers, crash or count 0: halide#3565, paiml/aprender#2058.
TEST_F(Discovery, ByManyFirstCallersAtOnceIsTheSameForAll) {
  fakecuda_slow_init_us(2000);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  auto chosen = gpus({0, 1});
  for (int k = 0; k < 32; ++k) {
    callers.emplace_back([&, k] {
      if (list_devices(backend::cuda).size() != 4) ++wrong;
      if (k % 8 == 0 && scheduler(chosen).devices().size() != 2) ++wrong;
    });
  }
  for (auto& each : callers) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(fakecuda_contexts_made(0), 1);
  EXPECT_EQ(fakecuda_contexts_made(1), 1);
}

}  // namespace
}  // namespace heddle::test
