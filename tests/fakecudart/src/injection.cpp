// SPDX-License-Identifier: Apache-2.0
#include "injection.hpp"

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

namespace {

struct injection {
  std::string api;  // empty: any but the releasing ones
  int device;
  long skip, count;
  cudaError_t error;
};

std::mutex mutex;
std::atomic<bool> any{false};
std::vector<injection>& all() {
  static auto* const list = new std::vector<injection>;
  return *list;
}

// Code under test can do nothing useful about a release that fails, so "any call" spares these.
bool releases(const char* api) {
  for (const char* const word : {"Destroy", "Free", "Pop", "Release", "Unregister"})
    if (std::strstr(api, word) != nullptr) return true;
  return false;
}

}  // namespace

void add_injection(const char* api, int device, long skip, long count, cudaError_t error) {
  const std::lock_guard lock(mutex);
  all().push_back({api == nullptr ? "" : api, device, skip, count, error});
  any.store(true, std::memory_order_relaxed);
}

void clear_injections() {
  const std::lock_guard lock(mutex);
  all().clear();
  any.store(false, std::memory_order_relaxed);
}

cudaError_t injected_error(const char* api, int device) {
  if (!any.load(std::memory_order_relaxed)) return cudaSuccess;
  const std::lock_guard lock(mutex);
  for (injection& each : all()) {
    if (each.api.empty() ? releases(api) : each.api != api) continue;
    if (each.device >= 0 && each.device != device) continue;
    if (each.skip > 0) {
      --each.skip;
    } else if (each.count > 0) {
      --each.count;
      return each.error;
    }
  }
  return cudaSuccess;
}

}  // namespace fake
