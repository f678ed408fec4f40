// SPDX-License-Identifier: Apache-2.0
#include "loop_programs.hpp"

namespace heddle::test {

loop_programs programs_by_nvcc() { return all_programs; }

void add_scaled_by_lambda(scheduler& s, float factor, const std::vector<float>& from,
                          std::vector<float>& to) {
  parallel_for(
      s, to.size(),
      [factor] HEDDLE_HOST_DEVICE(std::int64_t i, view<const float> x, view<float> y) {
        y[i] += factor * x[i];
      },
      in(from), inout(to));
}

void add_scaled_by_device_lambda(scheduler& s, float factor, const std::vector<float>& from,
                                 std::vector<float>& to) {
  parallel_for(
      s, to.size(),
      [factor] HEDDLE_DEVICE(std::int64_t i, view<const float> x, view<float> y) { y[i] += factor * x[i]; },
      in(from), inout(to));
}

}  // namespace heddle::test
