// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "capture.hpp"
#include "device.hpp"

namespace fake {

/// The one machine. It is never destroyed: calls arrive from atexit handlers and other libraries'
/// destructors.
struct machine {
  machine();

  std::vector<std::unique_ptr<device>> devices;
  std::atomic<unsigned long> epoch{1};
  std::atomic<long> workers{0};  // threads of streams
  std::atomic<unsigned long long> next_id{1};

  // Switches of the control interface, read by every call.
  std::atomic<bool> unloading{false}, stub_library{false}, used{false}, forked{false};
  std::atomic<int> driver_version{CUDART_VERSION};
  std::atomic<bool> harsh{false}, not_ready_sticks{true}, ignore_missing_twins{false};
  std::atomic<int> slow_init_us{0};

  std::mutex mutex;  // guards the rest
  std::unordered_set<graph*> graphs;
  std::unordered_set<graph_exec*> execs;
  std::vector<std::shared_ptr<graph_body>> retired;  // of destroyed graphs, whose replays may still run
  std::vector<capture*> captures;
  std::atomic<int> global_captures{0}, all_captures{0};

  device* at(int number) const;
  /// Holds on to a handle's object until the process ends, where leak checkers find it.
  void keep(void* handle);
  void rebuild(int count, std::size_t bytes);

 private:
  std::mutex kept_mutex_;
  std::vector<void*> kept_;
};

machine& the_machine();

/// Notes a violation of the API's contract, printf style.
[[gnu::format(printf, 1, 2)]] void misuse(const char* format, ...);
int misuse_count(char* text, std::size_t size);
void clear_misuse();

void sleep_us(int microseconds);

}  // namespace fake
