// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "heddle/detail/array.hpp"
#include "heddle/distributed_array.hpp"

namespace heddle {

/// One value, of which every device has a copy in its memory: what reductions over arrays give to later loops
/// without the host in between. Owned, move-only, uninitialised. What `distributed_array` says of order,
/// threads and errors holds for it.
template <class T>
class replicated {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "replicated needs a trivially copyable type: its value moves between host and devices by copies of "
      "its bytes");
  static_assert(alignof(T) <= 256, "replicated aligns its value to 256 bytes and no more");

 public:
  explicit replicated(scheduler& s) : value_(std::make_shared<detail::replicated_core>(s.core(), sizeof(T))) {
    value_->allocate();
  }
  replicated(scheduler& s, const T& value) : replicated(s) { set(value); }
  replicated(replicated&&) noexcept = default;
  replicated& operator=(replicated&&) noexcept = default;

  /// Blocks until every device has the value.
  void set(const T& value) { detail::set_bytes(*core(), &value); }
  /// Blocks until all earlier loops that write it are done. Throws what failed in them.
  T get() const {
    alignas(T) std::array<std::byte, sizeof(T)> value;
    detail::get_bytes(*core(), value.data());
    return std::bit_cast<T>(value);
  }

  /// Throws `invalid_option` once moved from, as all calls do, and loops.
  const std::shared_ptr<detail::replicated_core>& core() const {
    if (!value_) detail::refuse_moved_from("replicated");
    return value_;
  }

 private:
  std::shared_ptr<detail::replicated_core> value_;
};

/// In a loop over arrays: read, as a view of one element, `v[0]`; written, by `parallel_reduce_async` only.
template <class T>
auto in(const replicated<T>& value) {
  return detail::replicated_argument<const T, detail::access::in>{value.core()};
}
template <class T>
auto out(replicated<T>& value) {
  return detail::replicated_argument<T, detail::access::out>{value.core()};
}

namespace detail {

template <class T>
struct loop_argument<replicated_argument<const T, access::in>> {
  using argument = replicated_argument<const T, access::in>;
  static constexpr std::int64_t moved_bytes = 0;
  static constexpr bool borrows = false;
  static constexpr bool on_devices = true;
  struct shared {
    shared(const argument&, std::size_t) {}
  };
  static view<const T> on_host(const argument& a, index_range, loop_shape) noexcept {
    return view<const T>(static_cast<const T*>(own_copy(*a.value)), 0, {0, 1});
  }
  class piece {
   public:
    piece(device_context&, const argument& a, shared&, index_range part, loop_shape shape)
        : view_(on_host(a, part, shape)) {}
    const view<const T>& seen() const noexcept { return view_; }
    void copy_out(device_context&) {}

   private:
    view<const T> view_;
  };
  static array_use use(const argument& a) { return {nullptr, a.value, true, false, false}; }
};

}  // namespace detail

}  // namespace heddle
