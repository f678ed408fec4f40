// SPDX-License-Identifier: Apache-2.0
#include "saxpy_file/loops.hpp"

#include <cstdint>

#include "heddle/heddle.hpp"

namespace saxpy_file {
namespace {

struct make_body {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, heddle::view<float> x, heddle::view<float> y) const {
    x[i] = static_cast<float>(i * 7919 % 20011 - 10005) / 64;
    y[i] = static_cast<float>(i * 5153 % 30011 - 15005) / 64;
  }
};

struct axpy_body {
  HEDDLE_HOST_DEVICE void operator()(std::int64_t i, heddle::view<const float> x, heddle::view<float> y,
                                     float a) const {
    y[i] = axpy(a, x[i], y[i]);
  }
};

}  // namespace

void make_numbers(heddle::scheduler& sched, std::span<float> x, std::span<float> y) {
  heddle::parallel_for(sched, x.size(), make_body(), heddle::out(x), heddle::out(y));
}

// Host devices use the mappings where they lie. To and from GPUs their pieces move through pinned memory,
// those of later pieces while earlier ones are worked on; however large the files, a few pieces are on their
// way.
void add_multiple(heddle::scheduler& sched, float a, std::span<const float> x, std::span<float> y) {
  heddle::parallel_for(sched, x.size(), axpy_body(), heddle::in(x), heddle::inout(y), a);
}

}  // namespace saxpy_file
