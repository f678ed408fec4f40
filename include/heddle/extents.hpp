// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heddle/device_code.hpp"

namespace heddle {

namespace detail {
std::int64_t checked_size(const std::int64_t* sizes, std::size_t rank);
[[noreturn]] void throw_size_too_large();

template <std::integral I>
constexpr std::int64_t to_size(I n) {
  if (!std::in_range<std::int64_t>(n)) throw_size_too_large();
  return static_cast<std::int64_t>(n);
}
}  // namespace detail

/// The sizes of an index space of one to three dimensions, in C order: the last one varies fastest.
/// `extents{ny, nx}` is called as `body(y, x, …)`.
template <std::size_t Rank>
requires(Rank >= 1 && Rank <= 3) class extents {
 public:
  static constexpr std::size_t rank = Rank;

  /// Any integral types. Throws `invalid_option` if one is negative, or the product does not fit 64 bits.
  template <std::integral... Sizes>
  requires(sizeof...(Sizes) == Rank) extents(Sizes... sizes)  // implicit for one dimension: launch(n, body)
      : sizes_{detail::to_size(sizes)...}, size_(detail::checked_size(sizes_, Rank)) {}

  /// Number of indices; zero if any dimension is empty.
  HEDDLE_HOST_DEVICE std::int64_t size() const noexcept { return size_; }
  HEDDLE_HOST_DEVICE std::int64_t operator[](std::size_t dimension) const noexcept {
    return sizes_[dimension];
  }

 private:
  std::int64_t sizes_[Rank];  // no std::array: its functions are not for device code
  std::int64_t size_;
};

template <std::integral... Sizes>
extents(Sizes...) -> extents<sizeof...(Sizes)>;

}  // namespace heddle
