// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "driver/driver.hpp"
#include "work/item.hpp"

namespace heddle::detail {

class device_group;
class device_thread;

/// One run of an item: what its device_context sees. Lives on the stack of the thread that runs it.
struct item_frame {
  item& running;
  device_thread& device;
  device_group& group;
  int stream = -1;              // -1: the item runs in the arena and has none
  std::uint64_t touched = 0;    // other streams that it asked for, a bit each
  std::uint64_t joined = 0;     // of these, those whose work counts for the item
  item_frame* below = nullptr;  // the item that waits while this one runs, on a device thread
};

}  // namespace heddle::detail
