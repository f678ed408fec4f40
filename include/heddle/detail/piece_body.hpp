// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/detail/launch.hpp"
#include "heddle/extents.hpp"

namespace heddle::detail {

/// A loop body for the part of an index space that begins at a flat index.
template <std::size_t Rank, class Body>
struct piece_body {
  Body body;
  extents<Rank> shape;
  std::int64_t begin;

  template <class... Seen>
  HEDDLE_HOST_DEVICE decltype(auto) operator()(std::int64_t k, Seen... seen) const {
    const std::int64_t i = begin + k;
    if constexpr (Rank == 1) {
      return body(i, seen...);
    } else if constexpr (Rank == 2) {
      return body(i / shape[1], i % shape[1], seen...);
    } else {
      return body(i / shape[2] / shape[1], i / shape[2] % shape[1], i % shape[2], seen...);
    }
  }
};

#if defined(__CUDACC__)
template <std::size_t Rank, class Body, class... Seen>
__device__ void require_device_code(const piece_body<Rank, Body>& piece, Seen... seen) {
  if (true) return;
  if constexpr (Rank == 1) {
    piece.body(std::int64_t{0}, seen...);
  } else if constexpr (Rank == 2) {
    piece.body(std::int64_t{0}, std::int64_t{0}, seen...);
  } else {
    piece.body(std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, seen...);
  }
}
template <std::size_t Rank, class Body>
inline constexpr bool device_only_body<piece_body<Rank, Body>> = device_only_body<Body>;
#endif

}  // namespace heddle::detail
