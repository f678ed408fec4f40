// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "heddle/heddle.hpp"

namespace heddle::test {

/// What `on_error` was told. Copies share one list.
class error_log {
 public:
  void operator()(const error_event& event) const {
    const std::lock_guard lock(list_->mutex);
    list_->events.push_back(event);
  }
  std::vector<error_event> events() const {
    const std::lock_guard lock(list_->mutex);
    return list_->events;
  }
  std::size_t size() const { return events().size(); }

 private:
  struct list {
    std::mutex mutex;
    std::vector<error_event> events;
  };
  std::shared_ptr<list> list_ = std::make_shared<list>();
};

}  // namespace heddle::test
