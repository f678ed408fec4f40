// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/extents.hpp"

namespace heddle::detail {

/// Throws `invalid_option` unless they are equal.
void check_copy_sizes(std::size_t target, std::size_t source);

/// A reference to a callable that takes a range of flat indices.
struct index_range_call {
  void* callable;
  void (*call)(void* callable, std::int64_t begin, std::int64_t end);
};

/// Calls `f` for pieces of [0, n), in parallel in the arena that the calling thread is in. Blocks.
void parallel_over(std::int64_t n, index_range_call f);

/// Calls `f` with the one to three indices of every element, in parallel. Blocks; rethrows what a call threw.
template <std::size_t Rank, class F>
void host_loop(const extents<Rank>& size, F&& f) {
  auto piece = [&](std::int64_t begin, std::int64_t end) {
    if constexpr (Rank == 1) {
      for (std::int64_t i = begin; i < end; ++i) f(i);
    } else if constexpr (Rank == 2) {
      std::int64_t y = begin / size[1];
      std::int64_t x = begin % size[1];
      for (std::int64_t i = begin; i < end; ++i) {
        f(y, x);
        if (++x == size[1]) x = 0, ++y;
      }
    } else {
      std::int64_t x = begin % size[2];
      std::int64_t y = begin / size[2] % size[1];
      std::int64_t z = begin / size[2] / size[1];
      for (std::int64_t i = begin; i < end; ++i) {
        f(z, y, x);
        if (++x < size[2]) continue;
        x = 0;
        if (++y == size[1]) y = 0, ++z;
      }
    }
  };
  parallel_over(size.size(), {&piece, [](void* callable, std::int64_t begin, std::int64_t end) {
                                (*static_cast<decltype(piece)*>(callable))(begin, end);
                              }});
}

}  // namespace heddle::detail
