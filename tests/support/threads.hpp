// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::test {

/// The names of this process's threads, as the kernel tells them.
std::vector<std::string> thread_names();

/// How many threads bear names that begin with "heddle/".
int device_threads();

/// How many of those sleep in the kernel now.
int sleeping_device_threads();

/// This thread's number in the kernel.
pid_t this_thread_number();

/// Whether a thread of this process sleeps in the kernel now.
bool sleeps(pid_t thread);

}  // namespace heddle::test
