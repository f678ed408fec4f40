// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/detail/loop.hpp"
#include "pure/split.hpp"
#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

/// What a `split` holds.
struct split_access {
  using kind = split::kind;
  static kind kind_of(const split& s) noexcept { return s.kind_; }
  static const std::vector<double>& weights(const split& s) noexcept { return s.weights_; }
  static std::int64_t chunk(const split& s) noexcept { return s.chunk_; }
};

/// Throws `invalid_option` for weights or a chunk that cannot be.
void check_split(const char* name, const split&, std::size_t devices);

/// The parts of a loop whose devices are fixed beforehand, the devices that run loops of their own accord
/// being `places`; `further_seconds`: what each device beyond the first costs.
std::vector<loop_part> plan_parts(const scheduler_core&, const loop_request&, const split&,
                                  std::vector<std::size_t> places, double further_seconds);

/// The devices that are enabled; all of them if none is.
std::vector<std::size_t> enabled_places(const scheduler_core&);

}  // namespace heddle::detail
