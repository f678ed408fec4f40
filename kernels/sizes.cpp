// SPDX-License-Identifier: Apache-2.0
#include "kernels/sizes.hpp"

#include <string>
#include <utility>

#include "heddle/error.hpp"

namespace heddle::kernels {

void check_size(const char* function, const char* range, std::size_t got, std::int64_t wanted) {
  if (std::cmp_equal(got, wanted)) return;
  throw invalid_option(std::string(function) + ": " + range + " has " + std::to_string(got) +
                       " elements, and needs " + std::to_string(wanted));
}

}  // namespace heddle::kernels
