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

void running_sums_by_device_lambda(scheduler& s, distributed_array<double>& v) {
  inclusive_scan(s, in(v), out(v), 0., [] HEDDLE_DEVICE(double a, double b) { return a + b; });
}

}  // namespace heddle::test
