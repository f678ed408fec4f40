// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <mutex>

#include "scheduler/scheduler_core.hpp"

namespace heddle::detail {

namespace {

struct core_table {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<scheduler_core>> cores;  // guarded by mutex
};

// Never destroyed: futures may ask during the process's last static destructors.
core_table& table() {
  static auto* const only = new core_table;
  return *only;
}

}  // namespace

std::shared_ptr<scheduler_core> find_core(std::uint64_t serial) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().cores.find(serial);
  return found == table().cores.end() ? nullptr : found->second.lock();
}

void register_core(const std::shared_ptr<scheduler_core>& core) {
  core->group.alive = core;
  const std::lock_guard lock(table().mutex);
  table().cores.emplace(core->group.serial, core);
}

void unregister_core(std::uint64_t serial) noexcept {
  const std::lock_guard lock(table().mutex);
  table().cores.erase(serial);
}

}  // namespace heddle::detail
