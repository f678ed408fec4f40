// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_devices.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "driver/cuda_error.hpp"

namespace heddle::detail {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// With what CUDA itself made of it: heddle does not read the list.
std::string visible_text() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return "";
  return "; CUDA_VISIBLE_DEVICES is \"" + std::string(visible).substr(0, 120) +
         "\", and an entry that CUDA does not know hides all behind it";
}

// Why there is no device; empty if there are `count`.
std::string count_devices(int& count) {
  count = 0;
  int driver_version = 0;
  int runtime_version = 0;
  clear_own_error(cudaRuntimeGetVersion(&runtime_version));
  const cudaError_t asked = cudaDriverGetVersion(&driver_version);
  clear_own_error(asked);
  int found = 0;  // the call leaves it alone where it fails
  const cudaError_t status = cudaGetDeviceCount(&found);
  clear_own_error(status);
  if (status == cudaSuccess && found > 0) {
    count = found;
    return {};
  }
  if (status == cudaErrorStubLibrary) {
    return "libcuda.so.1 is the stub of the CUDA toolkit and not the driver's; take the stub out of the "
           "library "
           "path";
  }
  if (asked != cudaSuccess || driver_version == 0) {
    return "no NVIDIA driver is installed (libcuda.so.1 was not found); install it, or run where the devices "
           "are "
           "passed in";
  }
  if (status == cudaErrorInsufficientDriver || driver_version / 1000 < runtime_version / 1000) {
    return "the NVIDIA driver is too old: it serves CUDA " + version_text(driver_version) +
           ", this program needs " + version_text(runtime_version) + "; update the driver";
  }
  if (status == cudaSuccess || status == cudaErrorNoDevice) {
    return "the NVIDIA driver (CUDA " + version_text(driver_version) + ") shows no device" + visible_text();
  }
  if (status == cudaErrorInitializationError) {
    return "CUDA could not be initialised (cudaErrorInitializationError), as in a child by fork of a process "
           "that had used CUDA, were it only to list its devices: fork first, or start the child by exec";
  }
  return "cudaGetDeviceCount failed: " + cuda_text(status) + visible_text();
}

std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr std::array<std::size_t, 4> dashes_after{3, 5, 7, 9};
  std::string text = "GPU-";
  for (std::size_t k = 0; k < sizeof uuid.bytes; ++k) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[k])));
    text += hex.data();
    for (const std::size_t dash : dashes_after) text += k == dash ? "-" : "";
  }
  return text;
}

std::optional<int> attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  const cudaError_t status = cudaDeviceGetAttribute(&value, which, device);
  clear_own_error(status);
  return status == cudaSuccess ? std::optional(value) : std::nullopt;
}

// -1, in CUDA's answer or in sysfs, means that nobody knows.
std::optional<int> numa_node(int device, const std::string& pci_bus_id) {
  if (const auto node = attribute(cudaDevAttrHostNumaId, device); node && *node >= 0) return node;
  std::ifstream file("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

std::string pci_bus_id(int device) {
  std::array<char, 32> text{};
  const cudaError_t status = cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device);
  clear_own_error(status);
  if (status != cudaSuccess) return {};
  std::string id = text.data();
  for (char& c : id) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');  // as sysfs writes it
  }
  return id;
}

std::vector<int> peers(int device, int count) {
  std::vector<int> reachable;
  for (int other = 0; other < count; ++other) {
    int can = 0;
    if (other == device) continue;
    const cudaError_t status = cudaDeviceCanAccessPeer(&can, device, other);
    clear_own_error(status);
    if (status == cudaSuccess && can != 0) reachable.push_back(other);
  }
  return reachable;
}

device_info describe(int device, int count) {
  device_info info;
  info.id = info.ordinal = device;
  info.cuda_device = device;
  info.kind = backend::cuda;
  info.pci_bus_id = pci_bus_id(device);
  info.numa_node = numa_node(device, info.pci_bus_id);
  info.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device).value_or(0);
  info.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device).value_or(0) +
                            attribute(cudaDevAttrComputeCapabilityMinor, device).value_or(0);
  info.peers = peers(device, count);
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, device);
  clear_own_error(status);
  if (status == cudaSuccess) {
    info.name = properties.name;
    info.uuid = uuid_text(properties.uuid);
    info.memory_bytes = properties.totalGlobalMem;
  } else {  // it stays in the list, and says why when it is started
    info.name = "CUDA device " + std::to_string(device);
  }
  return info;
}

}  // namespace

cuda_devices list_cuda_devices() {
  int count = 0;
  cuda_devices found;
  found.why_none = count_devices(count);
  for (int device = 0; device < count; ++device) found.all.push_back(describe(device, count));
  return found;
}

}  // namespace heddle::detail
