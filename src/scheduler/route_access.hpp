// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "heddle/route.hpp"

namespace heddle::detail {

/// What a route says, for whoever carries it out.
struct route_access {
  using kind = route::kind;
  /// Whether it says no more than `route::any()`.
  static bool is_plain(const route& r) noexcept { return r.plain_; }
  struct view {
    explicit view(const route& r) noexcept
        : kind(r.kind_),
          id(static_cast<int>(static_cast<std::int64_t>(r.target_))),
          key(r.target_),
          spill(r.spill_),
          host_only(r.host_only_),
          in_arena(r.in_arena_),
          priority(r.priority_),
          stream(r.stream_),
          label(r.label_),
          stop(r.stop_),
          deadline(r.deadline_) {}
    route::kind kind;
    int id;
    std::uint64_t key;
    bool spill, host_only, in_arena;
    int priority;
    const std::optional<int>& stream;
    const std::string& label;
    const std::stop_token& stop;
    const std::optional<std::chrono::steady_clock::time_point>& deadline;
  };
};

}  // namespace heddle::detail
