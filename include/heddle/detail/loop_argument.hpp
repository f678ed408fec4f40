// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/array.hpp"
#include "heddle/detail/loop.hpp"
#include "heddle/device_buffer.hpp"
#include "heddle/loop_arguments.hpp"
#include "heddle/pinned_buffer.hpp"
#include "heddle/view.hpp"

namespace heddle::detail {

/// Elements of one row and of one plane of the loop's index space; 0 where it has none.
struct loop_shape {
  std::int64_t row = 0, plane = 0;
};

template <class Arg>
inline constexpr bool is_replicated_target = false;
template <class T>
inline constexpr bool is_replicated_target<replicated_argument<T, access::out>> = true;

/// How an argument reaches the body. For each kind of argument:
///   moved_bytes   of host data for each index, on devices with memory of their own
///   borrows       whether the loop refers to the caller's memory
///   on_devices    whether it lies on the devices, so that parts of the loop are its blocks; then `use` too
///   shared        what all parts of the loop have in common
///   on_host       what the body sees of it on the host
///   piece         what one part of the loop has of it on a device, from its making until `copy_out`
/// This one: a value, of which the body gets a copy.
template <class Arg>
struct loop_argument {
  static_assert(
      !std::same_as<Arg, loop_options>,
      "the options of a loop stand before its body: parallel_for(sched, n, options, body, arguments…)");
  static_assert(
      !is_replicated_target<Arg>,
      "out() of a replicated value is the last argument of parallel_reduce_async, whose initial value "
      "has its type; other loops read it, by in()");
  static_assert(!std::ranges::range<Arg>,
                "a range as an argument of a loop says what is done with it: in(range), out(range), "
                "inout(range) or whole(range)");
  static_assert(
      std::is_trivially_copyable_v<Arg> || std::same_as<Arg, loop_options> || is_replicated_target<Arg> ||
          std::ranges::range<Arg>,
      "a loop's value arguments need trivially copyable types: they are copied to devices as bytes");

  static constexpr std::int64_t moved_bytes = 0;
  static constexpr bool borrows = false;
  static constexpr bool on_devices = false;
  struct shared {
    shared(const Arg&, std::size_t) {}
  };
  static const Arg& on_host(const Arg& value, index_range, loop_shape) noexcept { return value; }
  class piece {
   public:
    piece(device_context&, const Arg& value, shared&, index_range, loop_shape) : value_(value) {}
    const Arg& seen() const noexcept { return value_; }
    void copy_out(device_context&) {}

   private:
    Arg value_;
  };
};

template <class T, access Access>
struct loop_argument<host_argument<T, Access>> {
  using argument = host_argument<T, Access>;
  using element = std::remove_const_t<T>;
  static constexpr bool is_whole = Access == access::whole;
  static constexpr std::int64_t moved_bytes =
      is_whole ? 0 : static_cast<std::int64_t>(sizeof(T)) * (Access == access::inout ? 2 : 1);
  static constexpr bool borrows = true;
  static constexpr bool on_devices = false;

  struct copy {
    device_buffer<element> memory;
    event made;
    bool there = false;
  };
  /// Of a whole range each device has one copy, made and used by its own thread.
  struct shared {
    shared(const argument&, std::size_t places) : copies(is_whole ? places : 0) {}
    std::vector<copy> copies;
  };

  static view<T> on_host(const argument& a, index_range part, loop_shape shape) noexcept {
    return view<T>(a.data, 0, is_whole ? index_range{0, a.size} : part, shape.row, shape.plane);
  }

  class piece {
   public:
    piece(device_context& context, const argument& a, shared& all, index_range part, loop_shape shape)
        : host_(a.data + (is_whole ? 0 : part.begin)) {
      if (context.stream().on_host()) {
        view_ = on_host(a, part, shape);
      } else if constexpr (is_whole) {
        auto& mine = all.copies[place_of(context)];
        if (mine.there) {
          context.wait(mine.made);
        } else {
          mine.memory = device_buffer<element>(context, static_cast<std::size_t>(a.size));
          context.copy(mine.memory, std::span<T>(a.data, static_cast<std::size_t>(a.size)));
          mine.made = context.record();
          mine.there = true;
        }
        view_ = view<T>(mine.memory.data(), 0, {0, a.size}, shape.row, shape.plane);
      } else {
        const auto size = static_cast<std::size_t>(part.size());
        memory_ = device_buffer<element>(context, size);
        staging_ = pinned_buffer<element>(context, size);  // now, not when the way back begins: see make_room
        if constexpr (Access != access::out) {
          copy_bytes(staging_.data(), host_, size * sizeof(T));
          context.copy(memory_, staging_);
        }
        view_ = view<T>(memory_.data(), part.begin, part, shape.row, shape.plane);
      }
    }
    const view<T>& seen() const noexcept { return view_; }
    void copy_out(device_context& context) {
      if constexpr (Access == access::out || Access == access::inout) {
        if (memory_.empty()) return;
        context.copy(staging_, memory_);
        context.enqueue([to = host_, from = staging_.data(), bytes = memory_.size() * sizeof(T)] {
          copy_bytes(to, from, bytes);
        });
      }
    }

   private:
    T* host_;
    device_buffer<element> memory_;   // freed behind the item's stream work
    pinned_buffer<element> staging_;  // likewise; for the way there, then back
    view<T> view_;
  };
};

/// The arrays and replicated values among the arguments of a loop.
template <class... Args>
std::vector<array_use> uses_of(const Args&... args) {
  std::vector<array_use> all;
  [[maybe_unused]] const auto look = [&]<class Arg>(const Arg& arg) {
    if constexpr (loop_argument<Arg>::on_devices) all.push_back(loop_argument<Arg>::use(arg));
  };
  (look(args), ...);
  return all;
}
template <class... Args>
inline constexpr bool on_arrays = (false || ... || loop_argument<Args>::on_devices);

/// Looks at the host ranges among the arguments, before anything runs.
template <class... Args>
void check_arguments(const char* name, std::int64_t indices, const Args&... args) {
  constexpr std::size_t count = (std::size_t{0} + ... + (loop_argument<Args>::borrows ? 1 : 0));
  std::array<used_range, count> ranges{};
  [[maybe_unused]] std::size_t k = 0;
  [[maybe_unused]] const auto note = [&]<class T, access Access>(const host_argument<T, Access>& a) {
    ranges[k++] = {a.data, a.size, a.size * static_cast<std::int64_t>(sizeof(T)),
                   Access == access::out || Access == access::inout, Access == access::whole};
  };
  [[maybe_unused]] const auto look = [&]<class Arg>(const Arg& arg) {
    if constexpr (loop_argument<Arg>::borrows) note(arg);
  };
  (look(args), ...);
  check_ranges(name, indices, ranges);
}

}  // namespace heddle::detail
