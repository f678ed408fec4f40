// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "device/device_group.hpp"
#include "work/item.hpp"

namespace heddle::detail {

class device_thread;

/// Who waits for what inside an item, over all schedulers of the process. A device thread that waits runs
/// only what it waits for, or what another waiting device thread needs of it; if neither can ever come, the
/// wait is refused. All of it is off the way of programs that do not wait inside items.
namespace wait_graph {

/// Blocks until `awaited` has ended, serving as above. Throws `would_deadlock`.
void wait(device_thread& self, item& awaited);

/// One wait for the end of all items of a scheduler, from construction on. On a device thread of another
/// scheduler it serves as above; on a thread of an arena it runs nothing, but is refused all the same where
/// it could never end. On other threads it is `ledger::drain_until`, and costs no more.
class end_wait {
 public:
  /// `limited`: no call of `until` is for ever, so that no wait that is gives up for this one. Throws
  /// `would_deadlock`.
  end_wait(device_group& awaited, bool limited);
  end_wait(const end_wait&) = delete;
  end_wait& operator=(const end_wait&) = delete;
  ~end_wait();

  /// Blocks until nothing is pending, or the time is over; whether nothing is pending. May come late where it
  /// serves. Throws `would_deadlock`.
  bool until(std::chrono::steady_clock::time_point limit);

 private:
  struct inside_item;
  device_group& awaited_;
  std::unique_ptr<inside_item> inside_;  // null on other threads
};

/// Who waits for `awaited` inside an item may run `part` too, until `waits_no_more_for`, by its place in the
/// order of these calls: the last one takes that place then. Both items live so long, and nobody runs
/// `awaited`. Where there is no memory it is false, and `part` unknown.
bool waits_also_for(item& awaited, item& part) noexcept;
void waits_no_more_for(item& awaited, std::size_t place) noexcept;

/// Something was queued, or can be claimed now: waiting device threads look again.
void notify() noexcept;

/// Called by whoever has claimed `it`, before its callable may free the items that it continues. Others may
/// be following `it.waits_for`: they look for the claim after they have entered, this looks for them after
/// the claim.
void after_claim_of_follower(item&) noexcept;
inline void after_claim(item& it) noexcept {
  if (it.waits_for != nullptr || it.extras) after_claim_of_follower(it);
}

}  // namespace wait_graph

}  // namespace heddle::detail
