// SPDX-License-Identifier: Apache-2.0
#include "support/driver_mode.hpp"

namespace heddle::test {

std::vector<driver_mode> all_modes() {
  return {{"immediate", backend::host, host_mode::immediate, 0},
          {"deferred", backend::host, host_mode::deferred, 0},
          {"shuffled", backend::host, host_mode::deferred, 20241}};
}

scheduler_options options_of(const driver_mode& mode, int devices) {
  scheduler_options chosen;
  chosen.use = backend::host;
  chosen.host.devices = devices;
  chosen.host.mode = mode.mode;
  chosen.host.seed = mode.seed;
  return chosen;
}

void limit_memory(const driver_mode&, scheduler_options& chosen, std::size_t bytes) {
  chosen.host.memory_bytes = bytes;
}

void prepare_machine(const driver_mode&) {}
void check_machine(const driver_mode&) {}

}  // namespace heddle::test
