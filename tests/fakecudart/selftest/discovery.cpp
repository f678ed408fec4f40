// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "machine_test.hpp"

namespace {

class Discovery : public machine_test {};

TEST_F(Discovery, NamesAndNumbersAreTheTests) {
  fakecuda_set_name(1, "Imaginary H100");
  fakecuda_set_uuid(1, "0123456789abcdef");
  fakecuda_set_pci(1, "0000:3b:00.0");
  fakecuda_set_numa(1, 7);
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(std::string(properties.name), "Imaginary H100");
  EXPECT_EQ(std::memcmp(properties.uuid.bytes, "0123456789abcdef", 16), 0);
  EXPECT_EQ(properties.pciBusID, 0x3b);
  char bus_id[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 1), cudaSuccess);
  EXPECT_EQ(std::string(bus_id), "0000:3b:00.0");
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus_id, 12, 1), cudaErrorInvalidValue);
  int value = -1;
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&value, "0000:3B:00.0"), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrHostNumaId, 1), cudaSuccess);
  EXPECT_EQ(value, 7);
}

TEST_F(Discovery, DevicesDifferByUuid) {
  cudaDeviceProp first{};
  cudaDeviceProp second{};
  ASSERT_EQ(cudaGetDeviceProperties(&first, 0), cudaSuccess);
  ASSERT_EQ(cudaGetDeviceProperties(&second, 1), cudaSuccess);
  EXPECT_NE(std::memcmp(first.uuid.bytes, second.uuid.bytes, 16), 0);
}

TEST_F(Discovery, DiscoveryMakesNoContext) {
  int value = 0;
  cudaDeviceProp properties{};
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(value, devices);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 3), cudaSuccess);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&value, 0, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 1), cudaSuccess);
  EXPECT_EQ(fakecuda_live(-1).contexts, 0);
}

TEST_F(Discovery, AnUnknownEntryPointIsNotFound) {
  void* found = &found;
  cudaDriverEntryPointQueryResult result{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuch", &found, 13000, cudaEnableDefault, &result),
            cudaSuccess);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
}

TEST_F(Discovery, ErrorsHaveNames) {
  EXPECT_EQ(std::string(cudaGetErrorName(cudaErrorNotReady)), "cudaErrorNotReady");
  EXPECT_EQ(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))), "unrecognized error code");
}

TEST_F(Discovery, ItIsTheDouble) { EXPECT_EQ(fakecuda_is_fake(), 1); }

}  // namespace
