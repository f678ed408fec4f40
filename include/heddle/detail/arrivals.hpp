// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/detail/item.hpp"

namespace heddle::detail {

/// Tells one reading thread in which order items end.
class arrivals {
 public:
  arrivals();
  /// `number` will arrive once `it` has ended.
  void expect(item& it, std::size_t number);
  /// The next number. Blocks until there is one: on a device thread by waiting for `oldest`, one of those
  /// that have not arrived, since only a wait for an item is served there. Throws `would_deadlock`.
  std::size_t next(item& oldest);

 private:
  struct list;
  std::shared_ptr<list> list_;  // the items' ends may outlive the reader
};

}  // namespace heddle::detail
