// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ranges>
#include <type_traits>

#include "heddle/stream.hpp"

namespace heddle {

namespace detail {

/// What a loop does with a host range.
enum class access { in, out, inout, whole };

/// A host range as an argument of a loop; made by `in`, `out`, `inout`, `whole`.
template <class T, access Access>
struct host_argument {
  T* data;
  std::int64_t size;
};

template <class Range>
constexpr bool may_be_argument() {
  static_assert(std::ranges::contiguous_range<Range>,
                "a loop's argument needs a contiguous range: std::vector, std::array, std::span, an array; "
                "copy the elements to one of these first");
  static_assert(std::ranges::borrowed_range<Range>,
                "a loop's argument may not be a temporary: the loop refers to it; give it a name first");
  static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>,
                "a loop's argument needs a trivially copyable element type: its elements move between host "
                "and devices by copies of their bytes");
  static_assert(!device_range<Range>,
                "a device_buffer is memory of one device: use its view() in an item of that device, or a "
                "distributed_array");
  return true;
}

template <class Range>
using element_of = std::remove_reference_t<std::ranges::range_reference_t<Range>>;

template <access Access, class T, class Range>
host_argument<T, Access> make_host_argument(Range& range) {
  return {std::ranges::data(range), static_cast<std::int64_t>(std::ranges::size(range))};
}

}  // namespace detail

// Host ranges as arguments of loops. Where devices have memory of their own, the elements of a part move
// there and back piece by piece, through pinned memory, while other pieces are worked on; so a range may be
// larger than their memory, or a mapped file. Host devices use it where it lies. The range must outlive the
// loop; what is written may overlap no other argument. Its size is the number of the loop's indices.

/// Read: the body gets a `view<const T>`.
template <class Range>
auto in(Range&& range) requires(std::ranges::range<Range>&& detail::may_be_argument<Range>()) {
  return detail::make_host_argument<detail::access::in, const detail::element_of<Range>>(range);
}

/// Written, every element of it, by the body that has its index: a `view<T>`. Old content is not copied to
/// devices, so what the body leaves out is undefined afterwards.
template <class Range>
auto out(Range&& range) requires(std::ranges::range<Range>&& detail::may_be_argument<Range>()) {
  static_assert(!std::is_const_v<detail::element_of<Range>>, "out() of elements that are const");
  return detail::make_host_argument<detail::access::out, detail::element_of<Range>>(range);
}

/// Read and written: a `view<T>`.
template <class Range>
auto inout(Range&& range) requires(std::ranges::range<Range>&& detail::may_be_argument<Range>()) {
  static_assert(!std::is_const_v<detail::element_of<Range>>, "inout() of elements that are const");
  return detail::make_host_argument<detail::access::inout, detail::element_of<Range>>(range);
}

/// Read at any index: the whole range, of any size, is copied to every device that takes part; a
/// `view<const T>`.
template <class Range>
auto whole(Range&& range) requires(std::ranges::range<Range>&& detail::may_be_argument<Range>()) {
  return detail::make_host_argument<detail::access::whole, const detail::element_of<Range>>(range);
}

}  // namespace heddle
