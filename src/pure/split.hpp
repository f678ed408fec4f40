// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/index_range.hpp"

namespace heddle::detail {

/// What one device does of a loop.
struct loop_part {
  std::size_t device;  ///< its place in the scheduler
  index_range range;   ///< never empty

  friend bool operator==(const loop_part&, const loop_part&) = default;
};

// All of these hold for every range of 64-bit indices. An `align` or `chunk` below 1 counts as 1.

/// Divides `whole` among the devices in proportion to their weights: one part a device at most, in the order
/// of devices and of indices, each index in exactly one part. Where two parts meet lies at `whole.begin` plus
/// a multiple of `align`, and every share within one `align` of the ideal; a device whose share rounds to
/// nothing has no part.
///
/// A weight that is not a positive finite number counts as zero, and so may one that is not even
/// (number of weights) / 2^61 of the largest. If all are zero the split is even. An empty `whole`, or no
/// weights at all, gives no parts.
std::vector<loop_part> split_by_weight(index_range whole, std::span<const double> weights,
                                       std::int64_t align = 1);

/// The same for `devices` equal ones: the shares differ by one `align` at most, larger ones first. What is
/// left over of an incomplete `align` comes last.
std::vector<loop_part> split_evenly(index_range whole, std::size_t devices, std::int64_t align = 1);

/// How many chunks of `chunk` indices `whole` has, the last one perhaps shorter.
std::uint64_t chunk_count(index_range whole, std::int64_t chunk) noexcept;

/// Chunk `k` of them in index order; empty, at the end of `whole`, if there are not so many.
index_range chunk_at(index_range whole, std::int64_t chunk, std::uint64_t k) noexcept;

}  // namespace heddle::detail
