// SPDX-License-Identifier: Apache-2.0
// A scheduler of so many host devices, whatever the environment says.
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/heddle.hpp"

namespace bench {

inline std::unique_ptr<heddle::scheduler> host_devices(int count,
                                                       std::size_t queue_capacity = std::size_t{1} << 16) {
  heddle::scheduler_options options;
  options.use = heddle::backend::host;
  options.host.devices = count;
  options.queue_capacity = queue_capacity;
  return std::make_unique<heddle::scheduler>(options);
}

}  // namespace bench
