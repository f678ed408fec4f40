// SPDX-License-Identifier: Apache-2.0
#include "bodies.hpp"

namespace heddle::test {

void launch_by_gxx(const stream& on, float* out, std::int64_t n, float factor, float summand) {
  on.launch(n, multiply_add{out}, factor, summand);
}

void launch_in_context_by_gxx(const device_context& context, float* out, std::int64_t n, float factor,
                              float summand) {
  context.launch(n, multiply_add{out}, factor, summand);
}

}  // namespace heddle::test
