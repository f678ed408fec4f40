// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/scan_bodies.hpp"

namespace heddle::detail {

// A scan in three passes over the blocks of a reduction, each pass in the order of the indices: what each
// block joins to; what lies before each block; the elements. (G. Blelloch, "Prefix sums and their
// applications", CMU-CS-90-190, 1990.)

/// Whether an argument is a range or an array that is read (`in`) or written (`out`).
template <class Arg, access Access>
inline constexpr bool is_scanned = false;
template <class T, access Access>
inline constexpr bool is_scanned<host_argument<T, Access>, Access> = true;
template <class T, access Access>
inline constexpr bool is_scanned<array_argument<T, Access>, Access> = true;

/// How many indices a scan has: as its array has elements, or its input.
template <class In, class Out>
std::int64_t scan_size(const In& from, const Out& to) noexcept {
  if (const array_core* array = array_of(from)) return array->size();
  if (const array_core* array = array_of(to)) return array->size();
  if constexpr (requires { from.size; }) {
    return from.size;
  } else {
    return 0;
  }
}

/// A scan: both loops of it divide the blocks.
template <class Compiler, bool Inclusive, class T, class Join, class In, class Out>
class scan_call {
 public:
  scan_call(std::size_t places, T init, Join join, const In& in, const Out& out)
      : size_(scan_size(in, out)),
        blocks_(cut_of(size_, in, out)),
        init_(std::move(init)),
        join_(std::move(join)),
        sums_arguments_(places, in),
        write_arguments_(places, in, out),
        before_(static_cast<std::size_t>(blocks_.count), slot{init_}) {}

  /// First pass.
  loop_request sums_request(const char* name) {
    auto all = request(name, &sum_operations, &sum_key, loop_arguments<In>::moved_bytes);
    all.all_or_none = true;  // no element is written yet
    return all;
  }
  /// Second pass, once the first is done.
  void join_sums() {
    if constexpr (fits) {
      T sum = init_;
      for (slot& each : before_) {
        T next = join_(sum, each.value);
        each.value = std::exchange(sum, std::move(next));
      }
    }
  }
  /// Third pass.
  loop_request write_request(const char* name) {
    return request(name, &write_operations, &write_key, loop_arguments<In, Out>::moved_bytes);
  }

  /// The first, over arrays: into partials of `target`; see `start_scan`.
  loop_request array_sums_request(const char* name, std::shared_ptr<replicated_core> target) {
    target_ = std::move(target);
    return request(name, &array_sum_operations, &sum_key, loop_arguments<In>::moved_bytes);
  }
  /// The second.
  void finish_sums(device_context* context, void* sums, void* before) {
    if (context == nullptr) {
      if constexpr (has_host_code) join_sums();
    } else if constexpr (has_device_code) {
      context->launch(1, scan_blocks_body<T, Join>{join_, init_, blocks_.count, static_cast<const T*>(sums),
                                                   static_cast<T*>(before)});
    }
  }
  /// The third.
  loop_request array_write_request(const char* name) {
    return request(name, &array_write_operations, &write_key, loop_arguments<In, Out>::moved_bytes);
  }

 private:
  enum : bool { fits = check_join<T, Join>() };
  struct slot {
    T value;
  };
  static constexpr char sum_key = 0, write_key = 0;
#if defined(__CUDACC__)
  static constexpr bool has_host_code = !device_only_body<Join>;
#else
  static constexpr bool has_host_code = fits;
#endif
  static constexpr bool has_device_code = std::is_trivially_copyable_v<T> && fits;
  static scan_call& self_of(void* self) noexcept { return *static_cast<scan_call*>(self); }
  static constexpr loop_operations sum_operations{
      [](void* self, std::int64_t begin, std::int64_t end) {
        self_of(self).run_sums({begin, end});
      },
      [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        self_of(self).put_sums(context, {begin, end});
      }};
  static constexpr loop_operations write_operations{
      [](void* self, std::int64_t begin, std::int64_t end) {
        self_of(self).run_write({begin, end});
      },
      [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        self_of(self).put_write(context, {begin, end});
      }};

  static constexpr loop_operations array_sum_operations{
      sum_operations.run, [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        auto& call = self_of(self);
        if constexpr (!std::is_trivially_copyable_v<T>) refuse_reduction_type(context.id());
        auto* const sums = static_cast<T*>(make_own_partials(*call.target_, context, call.blocks_.count));
        call.put_block_sums(context, {begin, end}, sums + begin);
      }};
  static constexpr loop_operations array_write_operations{
      write_operations.run, [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        auto& call = self_of(self);
        call.put_elements(context, {begin, end}, static_cast<const T*>(own_copy(*call.target_)) + begin);
      }};

  loop_request request(const char* name, const loop_operations* operations, const void* key,
                       std::int64_t moved_bytes) {
    loop_request all{name};
    all.size = blocks_.count;
    all.unit = blocks_.block;
    all.indices = size_;
    all.moved_bytes = moved_bytes;
    all.body = key;
    all.operations = operations;
    all.self = this;
    return all;
  }
  index_range indices_of(index_range blocks) const noexcept { return blocks_.indices_of(blocks, size_); }
  slot& before(std::int64_t block) noexcept { return before_[static_cast<std::size_t>(block)]; }

  void run_sums(index_range blocks) {
    if constexpr (!has_host_code) {
      refuse_without_host_code(-1);
    } else {
      sums_arguments_.on_host(indices_of(blocks), {}, [&](auto from) {
        for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
          const index_range part = indices_of({k, k + 1});
          T sum = static_cast<T>(from[part.begin]);
          for (std::int64_t i = part.begin + 1; i < part.end; ++i) sum = join_(sum, static_cast<T>(from[i]));
          before(k).value = std::move(sum);
        }
      });
    }
  }
  void run_write(index_range blocks) {
    if constexpr (has_host_code) {
      write_arguments_.on_host(indices_of(blocks), {}, [&](auto from, auto to) {
        for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
          const index_range part = indices_of({k, k + 1});
          scan_elements<Inclusive>({part.begin, part.end}, before(k).value, join_, from, to);
        }
      });
    }
  }

  void put_sums(device_context& context, index_range blocks) {
    if constexpr (!std::is_trivially_copyable_v<T>) {
      refuse_reduction_type(context.id());
    } else {
      const auto count = static_cast<std::size_t>(blocks.end - blocks.begin);
      auto sums = make_room([&] { return device_buffer<T>(context, count); });
      auto staging = make_room([&] { return pinned_buffer<T>(context, count); });
      put_block_sums(context, blocks, sums.data());
      context.copy(staging, sums);
      context.enqueue([from = staging.data(), to = &before(blocks.begin), count] {
        for (std::size_t k = 0; k < count; ++k) to[k].value = from[k];
      });
    }
  }
  void put_write(device_context& context, index_range blocks) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      const auto count = static_cast<std::size_t>(blocks.end - blocks.begin);
      auto offsets = make_room([&] { return device_buffer<T>(context, count); });
      auto staging = make_room([&] { return pinned_buffer<T>(context, count); });
      for (std::size_t k = 0; k < count; ++k) {
        staging.data()[k] = before_[static_cast<std::size_t>(blocks.begin) + k].value;
      }
      context.copy(offsets, staging);
      put_elements(context, blocks, offsets.data());
    }
  }
  // What each block joins to, to `sums`, memory of the device.
  void put_block_sums(device_context& context, index_range blocks, T* sums) {
    if constexpr (has_device_code) {
      auto lanes = make_room([&] { return device_buffer<T>(context, lanes_of(blocks)); });
      sums_arguments_.on_device(context, indices_of(blocks), {},
                                [&](auto from) { launch_sums(context, blocks, lanes.data(), from); });
      context.launch(blocks.end - blocks.begin, join_lanes_body<T, Join>{join_, blocks_, size_, blocks.begin,
                                                                         false, lanes.data(), sums});
    }
  }
  // The elements, from what lies before each block.
  void put_elements(device_context& context, index_range blocks, const T* before) {
    if constexpr (has_device_code) {
      auto lanes = make_room([&] { return device_buffer<T>(context, lanes_of(blocks)); });
      write_arguments_.on_device(context, indices_of(blocks), {}, [&](auto from, auto to) {
        launch_sums(context, blocks, lanes.data(), from);
        context.launch(blocks.end - blocks.begin,
                       scan_lanes_body<T, Join>{join_, blocks_, size_, blocks.begin, lanes.data(), before});
        context.launch((blocks.end - blocks.begin) * blocks_.lanes,
                       scan_write_body<Inclusive, T, Join>{join_, blocks_, size_, blocks.begin, lanes.data()},
                       from, to);
      });
    }
  }
  std::size_t lanes_of(index_range blocks) const noexcept {
    return static_cast<std::size_t>((blocks.end - blocks.begin) * blocks_.lanes);
  }
  template <class From>
  void launch_sums(device_context& context, index_range blocks, T* lanes, From from) {
    context.launch((blocks.end - blocks.begin) * blocks_.lanes,
                   scan_sum_body<T, Join>{join_, blocks_, size_, blocks.begin, lanes}, from);
  }

  std::int64_t size_;
  reduction_blocks blocks_;
  T init_;
  Join join_;
  loop_arguments<In> sums_arguments_;
  loop_arguments<In, Out> write_arguments_;
  std::vector<slot> before_;  // what each block joins to, then what lies before it
  std::shared_ptr<replicated_core> target_;
};

}  // namespace heddle::detail
