// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

namespace fake {

void add_injection(const char* api, int device, long skip, long count, cudaError_t error);
void clear_injections();
/// What a test wants this call to fail with. Takes a lock only while there are injections.
cudaError_t injected_error(const char* api, int device);

}  // namespace fake
