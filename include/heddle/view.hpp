// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/device_code.hpp"
#include "heddle/index_range.hpp"

/// Whether views check every index: in debug builds, unless set otherwise.
#ifndef HEDDLE_CHECKED_VIEWS
#ifdef NDEBUG
#define HEDDLE_CHECKED_VIEWS 0
#else
#define HEDDLE_CHECKED_VIEWS 1
#endif
#endif

namespace heddle {

namespace detail {
[[noreturn]] void throw_out_of_view(std::int64_t index, index_range range);

/// Host: throws std::out_of_range. Device: stops the kernel.
HEDDLE_HOST_DEVICE inline void refuse_index([[maybe_unused]] std::int64_t index,
                                            [[maybe_unused]] index_range range) {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  throw_out_of_view(index, range);
#endif
}
}  // namespace detail

/// What a loop body sees of an argument: the elements that its part of the loop may use, by their index in
/// the whole, wherever the part lies. A plain value, for host and device code.
///
/// `Checked` views refuse every other index: std::out_of_range on host devices, a stopped kernel on GPUs.
template <class T, bool Checked = HEDDLE_CHECKED_VIEWS != 0>
class view {
 public:
  using value_type = T;

  view() = default;
  /// `data[0]` is the element `first` of the whole; `range` may be used. `row` and `plane`: elements of one
  /// row, and of one plane of rows, for `v(y, x)` and `v(z, y, x)`.
  HEDDLE_HOST_DEVICE view(T* data, std::int64_t first, index_range range, std::int64_t row = 0,
                          std::int64_t plane = 0) noexcept
      : data_(data), first_(first), range_(range), row_(row), plane_(plane) {}

  HEDDLE_HOST_DEVICE T& operator[](std::int64_t i) const {
    if constexpr (Checked) {
      if (i < range_.begin || i >= range_.end) detail::refuse_index(i, range_);
    }
    return data_[i - first_];
  }
  HEDDLE_HOST_DEVICE T& operator()(std::int64_t i) const { return (*this)[i]; }
  HEDDLE_HOST_DEVICE T& operator()(std::int64_t y, std::int64_t x) const {
    if constexpr (Checked) {
      if (x < 0 || x >= row_) detail::refuse_index(x, {0, row_});
      refuse_far(y, row_);
    }
    return (*this)[y * row_ + x];
  }
  HEDDLE_HOST_DEVICE T& operator()(std::int64_t z, std::int64_t y, std::int64_t x) const {
    if constexpr (Checked) {
      const std::int64_t rows = row_ == 0 ? 0 : plane_ / row_;
      if (y < 0 || y >= rows) detail::refuse_index(y, {0, rows});
      if (x < 0 || x >= row_) detail::refuse_index(x, {0, row_});
      refuse_far(z, plane_);
    }
    return (*this)[z * plane_ + y * row_ + x];
  }

  /// The indices that may be used.
  HEDDLE_HOST_DEVICE index_range range() const noexcept { return range_; }
  /// Address of the element `range().begin`; those behind it follow.
  HEDDLE_HOST_DEVICE T* local() const noexcept { return data_ + (range_.begin - first_); }

 private:
  // What is so far out that the flat index, which is checked, would wrap around.
  HEDDLE_HOST_DEVICE void refuse_far(std::int64_t i, std::int64_t by) const {
    const std::int64_t limit = (std::int64_t{1} << 62) / (by == 0 ? 1 : by);
    if (i < limit && i > -limit) return;
    detail::refuse_index(i,
                         by == 0 ? index_range{} : index_range{range_.begin / by, (range_.end - 1) / by + 1});
  }

  T* data_ = nullptr;
  std::int64_t first_ = 0;
  index_range range_;
  std::int64_t row_ = 0, plane_ = 0;
};

}  // namespace heddle
