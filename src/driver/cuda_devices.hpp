// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "heddle/device_info.hpp"
#include "observe/error_sink.hpp"

/// What the rest of heddle knows of the CUDA driver. A build without CUDA has the same two functions, in
/// no_cuda.cpp.
namespace heddle::detail {

/// The GPUs that CUDA shows to this process, in its order, ids counted from 0.
struct cuda_devices {
  std::vector<device_info> all;
  std::string why_none;   // a sentence part, where there is none
  bool supported = true;  // by this build
};

/// Asks CUDA; makes no context. Any thread.
cuda_devices list_cuda_devices();

/// A driver of these devices, some of `list_cuda_devices`, in order. The sink is told what no future carries.
std::shared_ptr<driver> make_cuda_driver(std::vector<device_info> devices, std::weak_ptr<error_sink> sink);

}  // namespace heddle::detail
