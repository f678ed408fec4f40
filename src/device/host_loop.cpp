// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/host_loop.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {

std::int64_t checked_size(const std::int64_t* sizes, std::size_t rank) {
  bool empty = false;
  for (std::size_t k = 0; k < rank; ++k) {
    if (sizes[k] < 0) {
      throw invalid_option("a dimension of size " + std::to_string(sizes[k]) +
                           ": sizes are 0 or more; check how it was computed");
    }
    empty = empty || sizes[k] == 0;
  }
  if (empty) return 0;
  std::int64_t product = 1;
  for (std::size_t k = 0; k < rank; ++k) {
    if (__builtin_mul_overflow(product, sizes[k], &product)) throw_size_too_large();
  }
  return product;
}

void throw_size_too_large() {
  throw invalid_option(
      "the number of indices does not fit 64 bits: split the range, or check how its sizes were computed");
}

void check_copy_sizes(std::size_t target, std::size_t source) {
  if (target == source) return;
  throw invalid_option("copy of " + std::to_string(source) + " elements to " + std::to_string(target) +
                       ": sizes must be equal; pass a part of the larger range");
}

void parallel_over(std::int64_t n, index_range_call f) {
  if (n <= 0) return;
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, n),
      [&](const tbb::blocked_range<std::int64_t>& piece) { f.call(f.callable, piece.begin(), piece.end()); });
}

}  // namespace heddle::detail
