// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "heddle/detail/loop.hpp"
#include "loops/outcome.hpp"
#include "loops/share.hpp"
#include "pure/split.hpp"

namespace heddle::detail {

/// How the devices of a loop on host memory go about it.
struct sharing {
  std::vector<loop_part> parts;  ///< one for each device that takes part
  std::int64_t grain = 1;        ///< pieces that are taken one at a time, between looks at the stop token
  bool may_help = true;          ///< who is done early takes from others
  int threads = 1;               ///< of each device
};

/// A loop whose parts run on host memory, by the threads that call `work`.
class shared_loop {
 public:
  shared_loop(scheduler_core&, const loop_request&, const loop_options&, sharing);

  /// Works on the share of the `k`-th part, then on what others have left. On a thread that acts for its
  /// device. Never throws: failures are noted.
  void work(std::size_t k) noexcept;

  std::size_t parts() const noexcept { return parts_.size(); }
  const loop_part& part(std::size_t k) const noexcept { return parts_[k]; }
  bool may_help() const noexcept { return may_help_; }
  /// The item of the `k`-th part has ended with an error of its own.
  void item_failed(std::size_t k, std::exception_ptr) noexcept;
  /// It was cancelled.
  void item_left_out(std::size_t k) noexcept;
  /// Nothing that has not begun is to run any more. Any thread.
  void cancel() noexcept { outcome_.cancel(); }
  /// Once all who work have ended: throws what failed first.
  void finish(std::vector<index_range>* not_done);

 private:
  struct piece {
    std::size_t part;
    std::uint32_t grain;
  };
  std::optional<piece> next(std::size_t k, std::size_t& helping) noexcept;
  std::uint64_t drain(std::size_t k) noexcept;
  std::int64_t run(index_range units, std::int64_t& step);
  void leave_out(piece) noexcept;
  index_range indices_of(std::size_t part, share::grains) const noexcept;

  scheduler_core& core_;
  const loop_request request_;
  const std::vector<loop_part> parts_;
  std::vector<std::int64_t> grains_;  // of each part
  const bool may_help_;
  const int threads_;
  std::deque<share> shares_;
  loop_outcome outcome_;
};

}  // namespace heddle::detail
