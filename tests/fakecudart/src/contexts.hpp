// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

namespace fake {

struct device;
struct primary_context;

/// Makes the device's primary context live, once; says why it cannot, and nothing of the device's sticky
/// error. `for_runtime`: the runtime keeps it until the process ends.
cudaError_t make_context(device& on, bool for_runtime);
/// The device of the current context. A thread without one gets that of the device it chose, 0 unless it
/// called cudaSetDevice: what a caller did not mean, and what fakecuda_contexts_made() shows.
cudaError_t current_context(device*& current);
/// A driver's release: the last one ends a context that the runtime does not hold.
bool release_context(device& on);

}  // namespace fake
