// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "heddle/index_range.hpp"

namespace heddle {

namespace detail {
struct split_access;
}

/// How a loop is divided among the devices.
class split {
 public:
  /// By the measured rate of each device for this body; few indices use fewer devices where that is faster,
  /// one included; who is done early helps the others. Never more host devices than the process may use
  /// cores.
  static split measured() { return split(kind::measured); }
  /// The same number of indices for every device that is enabled.
  static split even() { return split(kind::even); }
  /// In proportion to `weights`, one for each device, at least one of them positive.
  static split weighted(std::vector<double> weights) {
    split s(kind::weighted);
    s.weights_ = std::move(weights);
    return s;
  }
  /// Chunks of this many indices go to whichever device has room; 0: a size that fits.
  static split dynamic(std::int64_t chunk = 0) {
    split s(kind::dynamic);
    s.chunk_ = chunk;
    return s;
  }

 private:
  friend struct detail::split_access;
  enum class kind { measured, even, weighted, dynamic };
  explicit split(kind k) noexcept : kind_(k) {}

  kind kind_;
  std::vector<double> weights_;
  std::int64_t chunk_ = 0;
};

/// Options of a loop over devices.
struct loop_options {
  heddle::split split = heddle::split::measured();  ///< loops over distributed arrays follow their blocks
  std::string label = {};                           ///< of the items that the loop submits
  std::stop_token stop = {};                        ///< ends the loop between chunks, as `cancelled`
  /// Where given, filled by a loop that fails or is stopped: the indices that it may not have done,
  /// ascending.
  std::vector<index_range>* not_done = nullptr;
};

}  // namespace heddle
