// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The kind of devices that a scheduler drives.
enum class backend {
  automatic,  ///< the best that this build and machine offer; host devices always exist
  cuda,       ///< GPUs by CUDA; refused with `no_device` where this build or machine has none
  host,       ///< devices of the CPU: own thread, arena, streams and memory
};

/// "automatic", "cuda" or "host".
const char* to_string(backend) noexcept;

/// What is known of one device. A plain value; the same for the scheduler's whole life.
struct device_info {
  int id = 0;                           ///< gpu id: unique in its scheduler, free to be chosen
  int ordinal = 0;                      ///< place among the devices of its backend, from 0
  std::optional<int> cuda_device = {};  ///< CUDA's own index; empty on host devices
  backend kind = backend::host;         ///< never `automatic`
  std::string name = {};                ///< "host device 1"
  std::string uuid = {};                ///< "HOST-1"; stable across schedulers
  std::string pci_bus_id = {};          ///< empty on host devices
  std::optional<int> numa_node = {};    ///< the node its thread and memory belong to, where the machine tells
  std::size_t memory_bytes = 0;         ///< size of the device's memory, or its cap
  int multiprocessors = 0;              ///< of a GPU; 0 on host devices
  int compute_capability = 0;           ///< of a GPU: 90 is 9.0; 0 on host devices
  std::vector<int> peers = {};          ///< CUDA indices of the GPUs whose memory it reaches directly

  friend bool operator==(const device_info&, const device_info&) = default;
};

/// The devices that a scheduler with default options would see, ids counted from 0. Any thread; creates no
/// thread and no context, but initialises CUDA where the build has it. Throws `no_device` if `backend::cuda`
/// is asked for and there is none, `invalid_option` for a bad HEDDLE_HOST_… variable.
std::vector<device_info> list_devices(backend use = backend::automatic);

}  // namespace heddle
