// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fake {

/// Notes the call if the log is on. Takes no lock: a log that ordered its callers would hide their races.
void log_call(const char* api, int device);
void switch_log(bool on);

}  // namespace fake
