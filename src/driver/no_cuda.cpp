// SPDX-License-Identifier: Apache-2.0
// In the place of the CUDA driver, in builds without it.
#include "driver/cuda_devices.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

cuda_devices list_cuda_devices() {
  return {{},
          "this build of heddle has no CUDA driver (HEDDLE_CUDA was off, or no CUDA toolkit was found)",
          false};
}

std::shared_ptr<driver> make_cuda_driver(std::vector<device_info>, std::weak_ptr<error_sink>) {
  throw no_device(list_cuda_devices().why_none);
}

}  // namespace heddle::detail
