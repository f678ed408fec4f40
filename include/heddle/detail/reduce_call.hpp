// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/index_call.hpp"
#include "heddle/detail/reduction_blocks.hpp"

namespace heddle::detail {

/// How many lanes of a block of `size` indices have any: all of a full block.
HEDDLE_HOST_DEVICE inline std::int64_t used_lanes(const reduction_blocks& blocks, std::int64_t size,
                                                  bool strided) noexcept {
  const std::int64_t each = strided ? 1 : (blocks.block - 1) / blocks.lanes + 1;
  const std::int64_t used = (size - 1) / each + 1;
  return used < blocks.lanes ? used : blocks.lanes;
}

/// Joins neighbours, then neighbours of these, until one is left, in place: `values` is not empty.
template <class T, class Join>
HEDDLE_HOST_DEVICE void join_tree(T* values, std::int64_t count, const Join& join) {
  for (std::int64_t left = count; left > 1; left = (left + 1) / 2) {
    for (std::int64_t k = 0; k < left / 2; ++k) values[k] = join(values[2 * k], values[2 * k + 1]);
    if (left % 2 != 0) values[left / 2] = values[left - 1];
  }
}

/// The same for values in structs.
template <class Slot, class Join>
struct slot_join {
  Join join;
  HEDDLE_HOST_DEVICE Slot operator()(const Slot& a, const Slot& b) const { return {join(a.value, b.value)}; }
};

/// One lane of one block: every `lanes`-th index from its own on.
template <std::size_t Rank, class T, class Join, class Body>
struct lane_body {
  piece_body<Rank, Body> body;
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  T* results;  // of lanes that have no index: untouched

  template <class... Seen>
  HEDDLE_HOST_DEVICE void operator()(std::int64_t k, Seen... seen) const {
    const std::int64_t begin = (first_block + k / blocks.lanes) * blocks.block;
    const std::int64_t end = indices - begin > blocks.block ? begin + blocks.block : indices;
    std::int64_t i = begin + k % blocks.lanes;
    if (i >= end) return;
    T sum = static_cast<T>(body(i, seen...));
    while ((i += blocks.lanes) < end) sum = join(sum, static_cast<T>(body(i, seen...)));
    results[k] = sum;
  }
};

/// The lanes of each block that have indices, joined.
template <class T, class Join>
struct join_lanes_body {
  Join join;
  reduction_blocks blocks;
  std::int64_t indices;
  std::int64_t first_block;
  bool strided;  // lanes of a reduction; those of a scan are contiguous
  T* lane_results;
  T* results;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t begin = (first_block + k) * blocks.block;
    const std::int64_t size = indices - begin > blocks.block ? blocks.block : indices - begin;
    T* const values = lane_results + k * blocks.lanes;
    join_tree(values, used_lanes(blocks, size, strided), join);
    results[k] = values[0];
  }
};

/// The values of all blocks, and the initial one, joined; one call.
template <class T, class Join>
struct join_all_body {
  Join join;
  T init;
  std::int64_t count;
  T* partials;
  T* value;

  HEDDLE_HOST_DEVICE void operator()(std::int64_t) const {
    if (count == 0) {
      *value = init;
      return;
    }
    join_tree(partials, count, join);
    *value = join(init, partials[0]);
  }
};

#if defined(__CUDACC__)
template <class T, class Join>
__device__ void require_join(const Join& join, T* values) {
  if (true) return;
  values[0] = join(values[0], values[0]);
}
template <std::size_t Rank, class T, class Join, class Body, class... Seen>
__device__ void require_device_code(const lane_body<Rank, T, Join, Body>& lane, Seen... seen) {
  require_device_code(lane.body, seen...);
  require_join(lane.join, lane.results);
}
template <class T, class Join>
inline constexpr bool device_only_body<join_all_body<T, Join>> = device_only_body<Join>;
template <std::size_t Rank, class T, class Join, class Body>
inline constexpr bool device_only_body<lane_body<Rank, T, Join, Body>> =
    device_only_body<Body> || device_only_body<Join>;
template <class T, class Join>
inline constexpr bool device_only_body<join_lanes_body<T, Join>> = device_only_body<Join>;
#endif

/// Throws `invalid_option`.
[[noreturn]] void refuse_reduction_type(int id);

/// A reduction: what it divides is its blocks, each of which gives one value.
template <class Compiler, std::size_t Rank, class T, class Join, class Body, class... Args>
class reduce_call {
 public:
  reduce_call(const extents<Rank>& size, std::size_t places, T init, Join join, Body body,
              const Args&... args)
      : size_(size),
        blocks_(cut_of(size.size(), args...)),
        init_(std::move(init)),
        join_(std::move(join)),
        body_(std::move(body)),
        arguments_(places, args...),
        results_(static_cast<std::size_t>(blocks_.count), slot{init_}) {}

  static constexpr loop_operations operations{
      [](void* self, std::int64_t begin, std::int64_t end) {
        static_cast<reduce_call*>(self)->run({begin, end});
      },
      [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        static_cast<reduce_call*>(self)->put(context, {begin, end});
      }};
  static constexpr loop_operations operations_into{
      operations.run, [](void* self, device_context& context, std::int64_t begin, std::int64_t end) {
        auto& call = *static_cast<reduce_call*>(self);
        call.put_blocks(context, {begin, end}, static_cast<T*>(own_partials(*call.target_)) + begin);
      }};
  static constexpr char key = 0;

  loop_request request(const char* name) {
    loop_request all{name};
    all.size = blocks_.count;
    all.unit = blocks_.block;
    all.indices = size_.size();
    all.moved_bytes = loop_arguments<Args...>::moved_bytes;
    all.body = &key;
    all.operations = &operations;
    all.self = this;
    return all;
  }

  /// Once all blocks are done.
  T result() const {
    if constexpr (!fits) {
      return init_;
    } else {
      auto values = results_;
      if (values.empty()) return init_;
      join_tree(values.data(), static_cast<std::int64_t>(values.size()), slot_join<slot, Join>{join_});
      return join_(init_, values.front().value);
    }
  }

  /// As the first of the steps of a reduction into `target`; see `reduction_steps`.
  loop_request request_into(const char* name, std::shared_ptr<replicated_core> target) {
    loop_request all = request(name);
    target_ = std::move(target);
    all.operations = &operations_into;
    return all;
  }
  /// The second.
  void finish(device_context* context, void* partials, void* value) const {
    if (context == nullptr) {
      *static_cast<T*>(value) = result();
    } else if constexpr (fits) {
      context->launch(1, join_all_body<T, Join>{join_, init_, blocks_.count, static_cast<T*>(partials),
                                                static_cast<T*>(value)});
    }
  }

 private:
  enum : bool { fits = check_reduced_body<Rank, T, Body, Args...>() && check_join<T, Join>() };
  struct slot {  // std::vector<bool> has no elements
    T value;
  };

  index_range indices_of(index_range blocks) const noexcept {
    return blocks_.indices_of(blocks, size_.size());
  }

  void run([[maybe_unused]] index_range blocks) {
#if defined(__CUDACC__)
    if constexpr (device_only_body<Body> || device_only_body<Join>) {
      refuse_without_host_code(-1);
    } else
#endif
        if constexpr (fits) {
      arguments_.on_host(indices_of(blocks), shape_of(size_), [&](auto... seen) {
        std::vector<slot> lanes;
        for (std::int64_t k = blocks.begin; k < blocks.end; ++k) {
          results_[static_cast<std::size_t>(k)].value = block_result(indices_of({k, k + 1}), lanes, seen...);
        }
      });
    }
  }

  // lane_body of every lane, row by row as the elements lie in memory.
  template <class... Seen>
  T block_result(index_range part, std::vector<slot>& lanes, Seen... seen) const {
    looped_body<Body> body = body_;
    looped_body<Join> join = join_;
    const std::int64_t used = std::min(blocks_.lanes, part.end - part.begin);
    lanes.clear();
    lanes.reserve(static_cast<std::size_t>(used));
    const auto begin_lane = [&](auto... indices) {
      lanes.push_back({static_cast<T>(body(indices..., seen...))});
    };
    call_for_part(size_, {part.begin, part.begin + used}, begin_lane);
    slot* const sums = lanes.data();
    if constexpr (Rank == 1) {
      for (std::int64_t begin = part.begin + used; begin < part.end; begin += blocks_.lanes) {
        const std::int64_t here = std::min(blocks_.lanes, part.end - begin);
        for (std::int64_t l = 0; l < here; ++l) {
          sums[l].value = join(sums[l].value, static_cast<T>(body(begin + l, seen...)));
        }
      }
    } else {
      std::int64_t l = 0;
      const auto take = [&](auto... indices) {
        sums[l].value = join(sums[l].value, static_cast<T>(body(indices..., seen...)));
        if (++l == blocks_.lanes) l = 0;
      };
      call_for_part(size_, {part.begin + used, part.end}, take);
    }
    join_tree(sums, used, slot_join<slot, Join>{join_});
    return std::move(sums[0].value);
  }

  void put(device_context& context, index_range blocks) {
    if constexpr (!std::is_trivially_copyable_v<T>) {
      refuse_reduction_type(context.id());
    } else if constexpr (fits) {
      const std::int64_t count = blocks.end - blocks.begin;
      auto results = make_room([&] { return device_buffer<T>(context, static_cast<std::size_t>(count)); });
      auto staging = make_room([&] { return pinned_buffer<T>(context, static_cast<std::size_t>(count)); });
      put_blocks(context, blocks, results.data());
      context.copy(staging, results);
      context.enqueue([from = staging.data(), to = results_.data() + blocks.begin, count] {
        for (std::int64_t k = 0; k < count; ++k) to[k].value = from[k];
      });
    }
  }

  // Their values go to `results`, memory of its device.
  void put_blocks(device_context& context, index_range blocks, T* results) {
    const std::int64_t count = blocks.end - blocks.begin;
    auto lanes =
        make_room([&] { return device_buffer<T>(context, static_cast<std::size_t>(count * blocks_.lanes)); });
    arguments_.on_device(context, indices_of(blocks), shape_of(size_), [&](auto... seen) {
      context.launch(count * blocks_.lanes,
                     lane_body<Rank, T, Join, Body>{
                         {body_, size_, 0}, join_, blocks_, size_.size(), blocks.begin, lanes.data()},
                     seen...);
    });
    context.launch(count, join_lanes_body<T, Join>{join_, blocks_, size_.size(), blocks.begin, true,
                                                   lanes.data(), results});
  }

  extents<Rank> size_;
  reduction_blocks blocks_;
  T init_;
  Join join_;
  Body body_;
  loop_arguments<Args...> arguments_;
  std::vector<slot> results_;
  std::shared_ptr<replicated_core> target_;
};

}  // namespace heddle::detail
