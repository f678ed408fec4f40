// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "heddle/detail/array.hpp"
#include "heddle/detail/reduction_blocks.hpp"
#include "heddle/error.hpp"
#include "loops/plan.hpp"
#include "pure/split.hpp"
#include "scheduler/scheduler_core.hpp"
#include "work/fork_guard.hpp"

namespace heddle::detail {

namespace {

std::vector<loop_part> divide(const scheduler_core& core, const array_core& array) {
  const index_range whole{0, array.size()};
  const auto& weights = array.layout.weights;
  if (weights.empty()) return split_evenly(whole, core.devices.size(), array.cut().block);
  return split_by_weight(whole, weights, array.cut().block);
}

}  // namespace

array_core::array_core(scheduler_core& of, const array_layout& asked, std::size_t bytes)
    : core(find_core(of.group.serial)), layout(asked), element_bytes(bytes) {
  refuse_in_forked_child("distributed_array");
  if (layout.halo < 0) {
    throw invalid_option("a distributed_array with a halo of " + std::to_string(layout.halo) +
                         " rows: a halo has 0 rows or more");
  }
  if (!layout.weights.empty())
    check_split("distributed_array", split::weighted(layout.weights), of.devices.size());
  for (const auto& part : divide(of, *this)) {
    const std::int64_t halo = std::min(layout.halo, layout.rows) * layout.row;
    array_block block{part.device,
                      part.range,
                      {std::max<std::int64_t>(0, part.range.begin - halo),
                       part.range.end + std::min(halo, size() - part.range.end)},
                      {}};
    block.memory = device_allocation(memory_kind::device, of, of.devices[part.device].id,
                                     static_cast<std::size_t>(block.held.size()), element_bytes);
    blocks.push_back(std::move(block));
  }
}

const array_block& array_core::block_of(std::int64_t index) const noexcept {
  return *std::find_if(blocks.begin(), blocks.end(),
                       [&](const array_block& each) { return index < each.range.end; });
}

replicated_core::replicated_core(scheduler_core& of, std::size_t value_bytes)
    : core(find_core(of.group.serial)),
      bytes(value_bytes),
      values(of.devices.size()),
      partials(of.devices.size()) {}

void replicated_core::allocate() {
  refuse_in_forked_child("replicated");
  for (std::size_t k = 0; k < values.size(); ++k) {
    const int id = core->devices[k].id;
    values[k] = device_allocation(memory_kind::device, *core, id, std::size_t{1}, bytes);
    partials[k] = device_allocation(memory_kind::device, *core, id,
                                    static_cast<std::size_t>(most_reduction_blocks), bytes);
  }
}

void refuse_moved_from(const char* type) {
  throw invalid_option(std::string("a ") + type +
                       " that was moved from: use the object that it was moved to");
}

void check_array_size(const char* name, std::int64_t array, std::size_t range) {
  if (static_cast<std::uint64_t>(array) == range) return;
  throw invalid_option(std::string(name) + " of a distributed_array of " + std::to_string(array) +
                       " elements with a range of " + std::to_string(range) + ": sizes must be equal");
}

}  // namespace heddle::detail
