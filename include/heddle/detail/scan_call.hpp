// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/reduce_call.hpp"

namespace heddle::detail {

// A scan in three passes over the blocks of a reduction, each pass in the order of the indices: what each
// block joins to; what lies before each block; the elements. (G. Blelloch, "Prefix sums and their
// applications", CMU-CS-90-190, 1990.)

/// The indices of one lane of one block of a scan: contiguous, unlike those of a reduction's.
struct scan_lane {
  std::int64_t begin, end;
};
HEDDLE_HOST_DEVICE inline scan_lane scan_lane_of(const reduction_blocks& blocks, std::int64_t indices,
                                                 std::int64_t block, std::int64_t lane) noexcept {
  const std::int64_t each = (blocks.block - 1) / blocks.lanes + 1;
  const std::int64_t block_end = (block + 1) * blocks.block < indices ? (block + 1) * blocks.block : indices;
  const std::int64_t begin = block * blocks.block + lane * each;
  return {begin < block_end ? begin : block_end, begin + each < block_end ? begin + each : block_end};
}

/// What one lane joins to.
template <class T, class Join>
struct scan_sum_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  T* results;

  template <class From, class... Rest>
  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, const From& from, Rest...) const {
    const scan_lane mine = scan_lane_of(blocks, indices, first_block + k / blocks.lanes, k % blocks.lanes);
    if (mine.begin == mine.end) return;
    T sum = static_cast<T>(from[mine.begin]);
    for (std::int64_t i = mine.begin + 1; i < mine.end; ++i) sum = join(sum, static_cast<T>(from[i]));
    results[k] = sum;
  }
};

/// In place: what lies before each lane of one block.
template <class T, class Join>
struct scan_lanes_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  T* lane_results;
  const T* before;  // each block

  HEDDLE_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t begin = (first_block + k) * blocks.block;
    const std::int64_t size = begin + blocks.block < indices ? blocks.block : indices - begin;
    const std::int64_t first = k * blocks.lanes;
    const std::int64_t last = first + used_lanes(blocks, size, false);
    T sum = before[k];
    for (std::int64_t l = first; l < last; ++l) {
      const T mine = lane_results[l];
      lane_results[l] = sum;
      sum = join(sum, mine);
    }
  }
};

/// The elements of one lane, behind what lies before it.
template <bool Inclusive, class T, class Join, class From, class To>
HEDDLE_HOST_DEVICE void scan_elements(scan_lane lane, T sum, const Join& join, const From& from,
                                      const To& to) {
  using element = std::remove_reference_t<decltype(to[0])>;
  for (std::int64_t i = lane.begin; i < lane.end; ++i) {
    const T next = join(sum, static_cast<T>(from[i]));
    to[i] = static_cast<element>(Inclusive ? next : sum);
    sum = next;
  }
}

template <bool Inclusive, class T, class Join>
struct scan_write_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  const T* before;  // each lane

  template <class From, class To>
  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, const From& from, const To& to) const {
    const scan_lane mine = scan_lane_of(blocks, indices, first_block + k / blocks.lanes, k % blocks.lanes);
    if (mine.begin != mine.end) scan_elements<Inclusive>(mine, before[k], join, from, to);
  }
};

#if defined(__CUDACC__)
template <class T, class Join, class... Seen>
__device__ void require_device_code(const scan_sum_body<T, Join>& sum, Seen...) {
  require_join(sum.join, sum.results);
}
template <class T, class Join>
inline constexpr bool device_only_body<scan_sum_body<T, Join>> = device_only_body<Join>;
template <class T, class Join>
inline constexpr bool device_only_body<scan_lanes_body<T, Join>> = device_only_body<Join>;
template <bool Inclusive, class T, class Join>
inline constexpr bool device_only_body<scan_write_body<Inclusive, T, Join>> = device_only_body<Join>;
#endif

/// A scan: both loops of it divide the blocks.
template <class Compiler, bool Inclusive, class T, class Join, class In, class Out>
class scan_call {
 public:
  scan_call(std::int64_t size, std::size_t places, T init, Join join, const In& in, const Out& out)
      : size_(size),
        blocks_(reduction_blocks_of(size)),
        init_(std::move(init)),
        join_(std::move(join)),
        sums_arguments_(places, in),
        write_arguments_(places, in, out),
        before_(static_cast<std::size_t>(blocks_.count), slot{init_}) {}

  /// First pass.
  loop_request sums_request(const char* name) {
    return request(name, &sum_operations, &sum_key, loop_arguments<In>::moved_bytes);
  }
  /// Second pass, once the first is done.
  void join_sums() {
    T sum = init_;
    for (slot& each : before_) {
      T next = join_(sum, each.value);
      each.value = std::exchange(sum, std::move(next));
    }
  }
  /// Third pass.
  loop_request write_request(const char* name) {
    return request(name, &write_operations, &write_key, loop_arguments<In, Out>::moved_bytes);
  }

 private:
  struct slot {
    T value;
  };
  static constexpr char sum_key = 0, write_key = 0;
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
  index_range indices_of(index_range blocks) const noexcept {
    return {blocks.begin * blocks_.block, std::min(blocks.end * blocks_.block, size_)};
  }
  slot& before(std::int64_t block) noexcept { return before_[static_cast<std::size_t>(block)]; }

  void run_sums(index_range blocks) {
    refuse_device_only();
    sums_arguments_.on_host(indices_of(blocks), {}, [&](auto from) {
      for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
        const index_range part = indices_of({k, k + 1});
        T sum = static_cast<T>(from[part.begin]);
        for (std::int64_t i = part.begin + 1; i < part.end; ++i) sum = join_(sum, static_cast<T>(from[i]));
        before(k).value = std::move(sum);
      }
    });
  }
  void run_write(index_range blocks) {
    write_arguments_.on_host(indices_of(blocks), {}, [&](auto from, auto to) {
      for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
        const index_range part = indices_of({k, k + 1});
        scan_elements<Inclusive>({part.begin, part.end}, before(k).value, join_, from, to);
      }
    });
  }
  void refuse_device_only() const {
#if defined(__CUDACC__)
    if constexpr (device_only_body<Join>) refuse_without_host_code(-1);
#endif
  }

  void put_sums(device_context& context, index_range blocks) {
    if constexpr (!std::is_trivially_copyable_v<T>) {
      refuse_reduction_type(context.id());
    } else {
      const auto count = static_cast<std::size_t>(blocks.end - blocks.begin);
      device_buffer<T> lanes(context, count * static_cast<std::size_t>(blocks_.lanes));
      device_buffer<T> sums(context, count);
      sums_arguments_.on_device(context, indices_of(blocks), {},
                                [&](auto from) { launch_sums(context, blocks, lanes.data(), from); });
      context.launch(blocks.end - blocks.begin, join_lanes_body<T, Join>{join_, blocks_, size_, blocks.begin,
                                                                         false, lanes.data(), sums.data()});
      pinned_buffer<T> staging(context, count);
      context.copy(staging, sums);
      context.enqueue([from = staging.data(), to = &before(blocks.begin), count] {
        for (std::size_t k = 0; k < count; ++k) to[k].value = from[k];
      });
    }
  }
  void put_write(device_context& context, index_range blocks) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      const auto count = static_cast<std::size_t>(blocks.end - blocks.begin);
      device_buffer<T> lanes(context, count * static_cast<std::size_t>(blocks_.lanes));
      device_buffer<T> offsets(context, count);
      pinned_buffer<T> staging(context, count);
      for (std::size_t k = 0; k < count; ++k) {
        staging.data()[k] = before_[static_cast<std::size_t>(blocks.begin) + k].value;
      }
      context.copy(offsets, staging);
      write_arguments_.on_device(context, indices_of(blocks), {}, [&](auto from, auto to) {
        launch_sums(context, blocks, lanes.data(), from);
        context.launch(
            blocks.end - blocks.begin,
            scan_lanes_body<T, Join>{join_, blocks_, size_, blocks.begin, lanes.data(), offsets.data()});
        context.launch((blocks.end - blocks.begin) * blocks_.lanes,
                       scan_write_body<Inclusive, T, Join>{join_, blocks_, size_, blocks.begin, lanes.data()},
                       from, to);
      });
    }
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
};

}  // namespace heddle::detail
