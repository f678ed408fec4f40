// SPDX-License-Identifier: Apache-2.0
#include "heddle/device_info.hpp"

namespace heddle {

const char* to_string(backend kind) noexcept {
  switch (kind) {
    case backend::automatic:
      return "automatic";
    case backend::cuda:
      return "cuda";
    case backend::host:
      return "host";
  }
  return "unknown";
}

}  // namespace heddle
