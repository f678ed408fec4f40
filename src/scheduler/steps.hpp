// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heddle/detail/submission.hpp"
#include "heddle/device_context.hpp"
#include "heddle/future.hpp"
#include "heddle/route.hpp"

namespace heddle::detail {

class scheduler_core;

/// One step of the work on arrays: a part on each device that takes part.
struct step {
  struct part {
    std::size_t place;
    std::function<void(device_context&)> run;       // puts its work on the item's stream
    std::function<void(std::exception_ptr)> unrun;  // instead, if the item was cancelled
  };
  std::vector<part> parts;
  /// Parts touch memory of other devices: they run behind all earlier steps on every device, and later steps
  /// behind all of them.
  bool crossing = false;
  std::string label = {};
};

/// The steps of all arrays of one scheduler, in the order of the calls. The parts of a device go to one of
/// its streams one after another, so that they are in order there; a step that crosses devices is handed over
/// once all parts before it have put their work on the streams, and makes the streams wait for one another.
/// The host waits for none of it.
class step_order {
 public:
  explicit step_order(scheduler_core& core) : core_(core) {}

  /// Any thread. Does not block. A future for each part, in their order.
  std::vector<future<void>> add(step);

 private:
  class issue_token;
  struct waiting_part {
    std::unique_ptr<submission> admitted;
    item* it;
    std::shared_ptr<issue_token> token;
  };
  struct waiting_step {
    std::vector<waiting_part> parts;
    bool crossing;
  };

  void run_part(std::size_t place, bool crossing, const std::function<void(device_context&)>&,
                device_context&);
  bool may_go(bool crossing) const noexcept;
  void release(waiting_step&);
  void part_issued() noexcept;

  scheduler_core& core_;
  std::mutex mutex_;
  std::deque<waiting_step> waiting_;  // guarded by mutex_; oldest first
  std::size_t unissued_ = 0;          // guarded by mutex_: parts handed over that have not put all their work
  bool crossing_ = false;             // guarded by mutex_: these belong to a step that crosses devices
  // By place, guarded by mutex_:
  std::vector<event> last_;            // behind the last part
  std::vector<event> before_;          // behind the last part before the step that crosses now
  std::vector<event> after_crossing_;  // behind the parts of the last step that crossed
  std::vector<char> must_wait_;        // the next part must wait for these
};

}  // namespace heddle::detail
