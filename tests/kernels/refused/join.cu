// SPDX-License-Identifier: Apache-2.0
// A join without a mark, as the standard library's: nvcc has to refuse it.
#include <functional>

#include "heddle/heddle.hpp"

namespace {
struct ones {
  HEDDLE_HOST_DEVICE int operator()(std::int64_t) const { return 1; }
};
}  // namespace

int count(heddle::scheduler& s) { return heddle::parallel_reduce(s, 100, 0, std::plus<>(), ones{}); }
