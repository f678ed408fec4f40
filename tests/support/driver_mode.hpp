// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// How a driver is set up for one run of the contract: each promise holds for every one of them.
struct driver_mode {
  std::string name;
  backend use = backend::host;
  host_mode mode = host_mode::immediate;
  std::uint64_t seed = 0;
  bool last_first = false;  ///< of the machine's GPUs, the last ones in reverse order
};

/// Its name, for the test runner's lists.
void PrintTo(const driver_mode&, std::ostream*);

// Each test program of the contract has its own version of these: host devices, or CUDA.

std::vector<driver_mode> all_modes();
/// Options for `devices` devices of the mode, that read no environment. Skips the test, by an exception of
/// the test runner, if the machine has fewer.
scheduler_options options_of(const driver_mode&, int devices);
/// Caps the memory of the options' devices. Skips the test where that cannot be done.
void limit_memory(const driver_mode&, scheduler_options&, std::size_t bytes);
/// Before and after a test: makes the machine as new; checks that nothing is left on it.
void prepare_machine(const driver_mode&);
void check_machine(const driver_mode&);

}  // namespace heddle::test
