// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace heddle::detail {

struct item_frame;

/// count * element_bytes. Throws `out_of_device_memory` if no address space holds it.
std::size_t checked_bytes(int id, std::size_t count, std::size_t element_bytes);

/// Memory for the item's stream. Where there is too little, items in flight that are done give theirs back
/// first; it waits for them, but not for long. Throws `out_of_device_memory`.
void* allocate_for_item(item_frame&, std::size_t bytes);

}  // namespace heddle::detail
