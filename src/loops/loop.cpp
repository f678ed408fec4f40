// SPDX-License-Identifier: Apache-2.0
#include "heddle/detail/loop.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "heddle/detail/reduce_call.hpp"
#include "heddle/device_context.hpp"
#include "heddle/error.hpp"
#include "heddle/view.hpp"
#include "loops/plan.hpp"
#include "loops/run_in_items.hpp"
#include "loops/run_on_host.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

namespace {

bool in_items(const scheduler_core& core, const loop_request& request) noexcept {
  return request.in_items || core.devices.front().kind != backend::host;
}

bool overlap(const used_range& a, const used_range& b) noexcept {
  const auto* const a_begin = static_cast<const std::byte*>(a.data);
  const auto* const b_begin = static_cast<const std::byte*>(b.data);
  if (a.bytes == 0 || b.bytes == 0) return false;
  return std::less<>()(a_begin, b_begin + b.bytes) && std::less<>()(b_begin, a_begin + a.bytes);
}

}  // namespace

void check_ranges(const char* name, std::int64_t indices, std::span<const used_range> ranges) {
  for (const auto& each : ranges) {
    if (!each.any_size && each.size != indices) {
      throw invalid_option(std::string(name) + " over " + std::to_string(indices) +
                           " indices with a range of " + std::to_string(each.size) +
                           " elements: in, out and inout take one element for each index; pass a part of the "
                           "range, or whole() to read it all at any index");
    }
    if (each.data == nullptr && each.size > 0) {
      throw invalid_option(std::string(name) + " with a range of " + std::to_string(each.size) +
                           " elements at a null address: check how the span was made");
    }
  }
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (!(ranges[k].written || ranges[j].written) || !overlap(ranges[k], ranges[j])) continue;
      throw invalid_option(
          std::string(name) + " with arguments " + std::to_string(j + 1) + " and " + std::to_string(k + 1) +
          " that overlap, one of which is written: what the loop reads would depend on how it is "
          "split; use inout for what is both, or ranges apart from one another");
    }
  }
}

void run_loop(scheduler_core& core, const loop_request& request, const loop_options& options) {
  refuse_in_forked_child(request.name);
  check_split(request.name, options.split, core.devices.size());
  if (options.not_done != nullptr) options.not_done->clear();
  if (request.size == 0) return;
  if (in_items(core, request)) {
    run_in_items(core, request, options);
  } else {
    run_on_host(core, request, options);
  }
}

future<void> start_loop(scheduler_core& core, const loop_request& request, const loop_options& options,
                        std::shared_ptr<void> owner) {
  refuse_in_forked_child(request.name);
  check_split(request.name, options.split, core.devices.size());
  if (options.not_done != nullptr) options.not_done->clear();
  return in_items(core, request) ? start_in_items(core, request, options, std::move(owner))
                                 : start_on_host(core, request, options, std::move(owner));
}

void copy_bytes(void* target, const void* source, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  const std::size_t pieces = (bytes + piece - 1) / piece;
  if (pieces < 2) {
    if (bytes > 0) std::memcpy(target, source, bytes);
    return;
  }
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t k) {
      const std::size_t begin = k * piece;
      std::memcpy(static_cast<std::byte*>(target) + begin, static_cast<const std::byte*>(source) + begin,
                  std::min(piece, bytes - begin));
    });
  });
}

void refuse_reduction_type(int id) {
  throw invalid_option(
      "a reduction or scan on device " + std::to_string(id) +
      ", a GPU, whose value type is not trivially copyable: values move between host and devices "
      "by copies of their bytes; use a plain type, or host devices");
}

std::size_t place_of(const device_context& context) noexcept {
  return static_cast<std::size_t>(context.frame().device.identity().index);
}

std::size_t count_places(const scheduler_core& core) noexcept { return core.devices.size(); }

void throw_out_of_view(std::int64_t index, index_range range) {
  throw std::out_of_range(
      "index " + std::to_string(index) + " of a view of [" + std::to_string(range.begin) + ", " +
      std::to_string(range.end) +
      "): a loop's body may use what belongs to its part; whole() gives every device all of a "
      "host range, with_halo() the neighbours of an array's block");
}

}  // namespace heddle::detail
