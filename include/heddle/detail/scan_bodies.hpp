// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "heddle/detail/reduce_call.hpp"

namespace heddle::detail {

/// The indices of one lane of one block of a scan: contiguous, unlike those of a reduction's.
struct scan_lane {
  std::int64_t begin, end;
};
HEDDLE_HOST_DEVICE inline scan_lane scan_lane_of(const reduction_blocks& blocks, std::int64_t indices,
                                                 std::int64_t block, std::int64_t lane) noexcept {
  const std::int64_t each = (blocks.block - 1) / blocks.lanes + 1;
  const std::int64_t block_end = (block + 1) * blocks.block < indices ? (block + 1) * blocks.block : indices;
  const std::int64_t begin = block * blocks.block + lane * each;
  return {begin < block_end ? begin : block_end, begin + each < block_end ? begin + each : block_end};
}

/// What one lane joins to.
template <class T, class Join>
struct scan_sum_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  T* results;

  template <class From, class... Rest>
  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, const From& from, Rest...) const {
    const scan_lane mine = scan_lane_of(blocks, indices, first_block + k / blocks.lanes, k % blocks.lanes);
    if (mine.begin == mine.end) return;
    T sum = static_cast<T>(from[mine.begin]);
    for (std::int64_t i = mine.begin + 1; i < mine.end; ++i) sum = join(sum, static_cast<T>(from[i]));
    results[k] = sum;
  }
};

/// In place: what lies before each lane of one block.
template <class T, class Join>
struct scan_lanes_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  T* lane_results;
  const T* before;  // each block

  HEDDLE_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t begin = (first_block + k) * blocks.block;
    const std::int64_t size = indices - begin > blocks.block ? blocks.block : indices - begin;
    const std::int64_t first = k * blocks.lanes;
    const std::int64_t last = first + used_lanes(blocks, size, false);
    T sum = before[k];
    for (std::int64_t l = first; l < last; ++l) {
      const T mine = lane_results[l];
      lane_results[l] = sum;
      sum = join(sum, mine);
    }
  }
};

/// What lies before each block; one call.
template <class T, class Join>
struct scan_blocks_body {
  Join join;
  T init;
  std::int64_t count;
  const T* sums;
  T* before;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t) const {
    T sum = init;
    for (std::int64_t k = 0; k < count; ++k) {
      before[k] = sum;
      sum = join(sum, sums[k]);
    }
  }
};

/// The elements of one lane, behind what lies before it.
template <bool Inclusive, class T, class Join, class From, class To>
HEDDLE_HOST_DEVICE void scan_elements(scan_lane lane, T sum, const Join& join, const From& from,
                                      const To& to) {
  using element = std::remove_reference_t<decltype(to[0])>;
  for (std::int64_t i = lane.begin; i < lane.end; ++i) {
    const T next = join(sum, static_cast<T>(from[i]));
    to[i] = static_cast<element>(Inclusive ? next : sum);
    sum = next;
  }
}

template <bool Inclusive, class T, class Join>
struct scan_write_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  const T* before;  // each lane

  template <class From, class To>
  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, const From& from, const To& to) const {
    const scan_lane mine = scan_lane_of(blocks, indices, first_block + k / blocks.lanes, k % blocks.lanes);
    if (mine.begin != mine.end) scan_elements<Inclusive>(mine, before[k], join, from, to);
  }
};

#if defined(__CUDACC__)
template <class T, class Join, class... Seen>
__device__ void require_device_code(const scan_sum_body<T, Join>& sum, Seen...) {
  require_join(sum.join, sum.results);
}
template <class T, class Join>
inline constexpr bool device_only_body<scan_sum_body<T, Join>> = device_only_body<Join>;
template <class T, class Join>
inline constexpr bool device_only_body<scan_lanes_body<T, Join>> = device_only_body<Join>;
template <class T, class Join>
inline constexpr bool device_only_body<scan_blocks_body<T, Join>> = device_only_body<Join>;
template <bool Inclusive, class T, class Join>
inline constexpr bool device_only_body<scan_write_body<Inclusive, T, Join>> = device_only_body<Join>;
#endif

}  // namespace heddle::detail
