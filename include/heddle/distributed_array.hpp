// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/loop_arguments.hpp"
#include "heddle/parallel_for.hpp"
#include "heddle/view.hpp"

namespace heddle {

/// How a `distributed_array` lies on the devices.
struct array_options {
  std::int64_t halo = 0;  ///< rows (indices, for one dimension) of its neighbours that each block holds too
  std::vector<double> weights = {};  ///< share of each device, in their order; empty: even
};

template <class T>
class distributed_array;

namespace detail {

template <class T>
std::int64_t rows_of(const extents<1>& size) {
  return size[0];
}

template <std::size_t Rank>
array_layout layout_of(const extents<Rank>& size, const array_options& options) {
  return {size.size() == 0 ? 0 : size[0], row_size(size), options.halo, options.weights};
}

}  // namespace detail

/// An array whose elements lie in the devices' memory, each device's block in its own: for loops that follow
/// one another without the host in between. Owned, move-only; uninitialised; elements of a trivially copyable
/// type. Blocks are whole rows of `extents`, cut where a reduction's blocks are, so that small arrays may use
/// fewer devices.
///
/// Loops that name it (`in`, `out`, `inout`, `with_halo`), and the members below, take effect in the order of
/// the calls, on the devices. One array by one thread at a time. An error in a loop that writes it leaves it
/// undefined: whatever reads it throws that error, until it is scattered or filled anew. It may outlive its
/// scheduler, for nothing but its own end.
template <class T>
class distributed_array {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "distributed_array needs a trivially copyable element type: its elements move between host and "
      "devices by copies of their bytes");
  static_assert(alignof(T) <= 256, "distributed_array aligns its elements to 256 bytes and no more");

 public:
  using value_type = T;

  /// `size`: an integer, or `extents`. Blocks while it allocates. Throws `invalid_option`,
  /// `out_of_device_memory`.
  template <class Size>
  distributed_array(scheduler& s, Size size, const array_options& options = {})
      : array_(std::make_shared<detail::array_core>(
            s.core(), detail::layout_of(detail::to_extents(size), options), sizeof(T))) {}
  distributed_array(distributed_array&&) noexcept = default;
  distributed_array& operator=(distributed_array&&) noexcept = default;

  /// Number of elements; 0 once moved from.
  std::int64_t size() const noexcept { return array_ ? array_->size() : 0; }
  /// The elements of a device by its place among `scheduler::devices()`; empty if it has none.
  index_range block(std::size_t place) const {
    for (const auto& each : core()->blocks) {
      if (each.place == place) return each.range;
    }
    return {};
  }

  // These block until they have taken effect, behind all earlier loops on the array, and throw what made it
  // undefined. `would_deadlock` on a thread of a device's arena.

  /// Copies a contiguous range of the array's size into it.
  template <std::ranges::contiguous_range Range>
  void scatter(const Range& source) {
    static_assert(std::is_same_v<std::ranges::range_value_t<Range>, T>,
                  "scatter needs a range of the array's element type");
    detail::check_array_size("scatter", size(), std::ranges::size(source));
    detail::scatter_bytes(*core(), std::ranges::data(source));
  }
  /// Copies it into a contiguous range of its size.
  template <class Range>
  requires std::ranges::range<Range>
  void gather(Range&& target) const {
    static_assert(
        std::ranges::contiguous_range<Range>,
        "gather needs a contiguous range: std::vector (not of bool), std::array, std::span, an array");
    static_assert(std::ranges::borrowed_range<Range>,
                  "gather into a temporary loses the elements: give the range a name, or use what gather() "
                  "returns");
    static_assert(std::is_same_v<std::ranges::range_value_t<Range>, T>,
                  "gather needs a range of the array's element type");
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>,
                  "gather writes the range's elements, which are const");
    detail::check_array_size("gather", size(), std::ranges::size(target));
    detail::gather_bytes(*core(), std::ranges::data(target));
  }
  std::vector<T> gather() const {
    static_assert(
        !std::is_same_v<T, bool>,
        "gather() makes a std::vector, which of bool has no elements to copy to: give gather a range of "
        "your own, as std::span of an array");
    static_assert(
        std::is_default_constructible_v<T>,
        "gather() makes a std::vector of default-constructed elements, which this type has none of: "
        "give gather a range of your own");
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather(all);
    return all;
  }
  void fill(const T& value) { detail::fill_bytes(*core(), &value); }

  /// Fetches the halos now, if a loop has written the array since; `with_halo` does so by itself. Does not
  /// block.
  void exchange_halos() { detail::exchange_halos(core()); }

  /// Throws `invalid_option` once moved from, as all calls but `size()` do, and loops.
  const std::shared_ptr<detail::array_core>& core() const {
    if (!array_) detail::refuse_moved_from("distributed_array");
    return array_;
  }

 private:
  std::shared_ptr<detail::array_core> array_;
};

/// Arrays as arguments of loops, which follow their blocks: read; written, every element; both; read with the
/// halos, which are fetched first where they are stale.
template <class T>
auto in(const distributed_array<T>& array) {
  return detail::array_argument<const T, detail::access::in>{array.core()};
}
template <class T>
auto out(distributed_array<T>& array) {
  return detail::array_argument<T, detail::access::out>{array.core()};
}
template <class T>
auto inout(distributed_array<T>& array) {
  return detail::array_argument<T, detail::access::inout>{array.core()};
}
template <class T>
auto with_halo(const distributed_array<T>& array) {
  return detail::array_argument<const T, detail::access::in, true>{array.core()};
}

namespace detail {

template <class T, access Access, bool Halo>
struct loop_argument<array_argument<T, Access, Halo>> {
  using argument = array_argument<T, Access, Halo>;
  static constexpr std::int64_t moved_bytes = 0;
  static constexpr bool borrows = false;
  static constexpr bool on_devices = true;
  struct shared {
    shared(const argument&, std::size_t) {}
  };
  static view<T> on_host(const argument& a, index_range part, loop_shape shape) noexcept {
    const array_block& block = a.array->block_of(part.begin);
    return view<T>(static_cast<T*>(block.memory.data()), block.held.begin, Halo ? block.held : part,
                   shape.row, shape.plane);
  }
  class piece {
   public:
    piece(device_context&, const argument& a, shared&, index_range part, loop_shape shape)
        : view_(on_host(a, part, shape)) {}
    const view<T>& seen() const noexcept { return view_; }
    void copy_out(device_context&) {}

   private:
    view<T> view_;
  };
  static array_use use(const argument& a) {
    return {a.array, nullptr, Access != access::out, Access != access::in, Halo};
  }
};

}  // namespace detail

}  // namespace heddle
