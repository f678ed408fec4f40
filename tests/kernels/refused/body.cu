// SPDX-License-Identifier: Apache-2.0
// A body without a mark: nvcc has to refuse it.
#include "heddle/heddle.hpp"

namespace {
struct unmarked {
  void operator()(std::int64_t i, heddle::view<float> v) const { v[i] = 1; }
};
}  // namespace

void fill(heddle::scheduler& s, std::vector<float>& v) {
  heddle::parallel_for(s, v.size(), unmarked{}, heddle::out(v));
}
