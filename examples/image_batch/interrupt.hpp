// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace image_batch {

/// From now on Ctrl-C and a polite kill do not end the program, but are told by `interrupted()`, so that what
/// is being written is finished or removed first; a second one ends it at once. A full disk, a file size
/// limit and a closed pipe become errors of the call that met them. Call once, first in `main`.
void defer_signals();

/// Whether someone asked the program to stop. Any thread.
bool interrupted() noexcept;

}  // namespace image_batch
