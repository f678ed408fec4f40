// SPDX-License-Identifier: Apache-2.0
#pragma once

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
