// SPDX-License-Identifier: Apache-2.0
#include "driver/host_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "config/affinity.hpp"
#include "config/numa.hpp"
#include "driver/numa_binding.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

constexpr auto beyond_memory = "more than any address space holds; check the count";
constexpr std::align_val_t alignment{256};  // what cudaMalloc gives, so that code may rely on one figure

}  // namespace

std::vector<device_info> list_host_devices(const host_options& options) {
  const auto nodes = numa_nodes(allowed_cpus());
  const int count = options.devices > 0 ? options.devices : std::max(2, static_cast<int>(nodes.size()));
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto memory = page_bytes * static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  std::vector<device_info> devices;
  for (int k = 0; k < count; ++k) {
    device_info info;
    info.id = k;
    info.ordinal = k;
    info.kind = backend::host;
    info.name = "host device " + std::to_string(k);
    info.uuid = "HOST-" + std::to_string(k);
    if (nodes.size() > 1) info.numa_node = nodes[static_cast<std::size_t>(k) % nodes.size()].node;
    info.memory_bytes =
        options.memory_bytes > 0 ? options.memory_bytes : memory / static_cast<std::size_t>(count);
    devices.push_back(std::move(info));
  }
  return devices;
}

host_driver::host_driver(std::vector<device_info> devices, const host_options& options)
    : mode_(options.mode), cap_bytes_(options.memory_bytes) {
  for (auto& info : devices) {
    auto& state = *devices_.emplace_back(std::make_unique<device_state>());
    if (mode_ == host_mode::deferred) {
      state.turns.emplace(options.seed + static_cast<std::uint64_t>(info.ordinal));
    }
    state.info = std::move(info);
  }
}

const device_info& host_driver::info(int device) const noexcept { return at(device).info; }

void host_driver::bind(int device, int streams) {
  auto& state = at(device);
  if (state.info.numa_node) bind_to_numa_node(*state.info.numa_node);
  for (int k = 0; k < streams; ++k) state.streams.push_back(std::make_unique<host_stream>());
}

void host_driver::unbind(int) noexcept {}

void host_driver::enqueue(stream_id id, operation work) {
  if (runs_at_once(id)) {
    work();
  } else {
    at(id).enqueue(std::move(work));
  }
}

bool host_driver::runs_at_once(stream_id id) noexcept {
  return mode_ == host_mode::immediate && at(id).empty();
}

void host_driver::copy(stream_id id, void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (runs_at_once(id)) {
    std::memmove(target, source, bytes);
  } else {
    at(id).enqueue(operation([=] { std::memmove(target, source, bytes); }));
  }
}

std::uint64_t host_driver::record(stream_id id, mark_kind kind) noexcept { return at(id).record(kind); }

std::optional<std::exception_ptr> host_driver::query(stream_id id, std::uint64_t mark) {
  return at(id).query(mark);
}

void host_driver::order_after(stream_id waiter, stream_id other, std::uint64_t mark) {
  at(waiter).order_after(at(other), mark);
}

bool host_driver::advance(int device) {
  auto& state = at(device);
  const std::size_t count = state.streams.size();
  if (std::all_of(state.streams.begin(), state.streams.end(), [](const auto& s) { return s->empty(); }))
    return false;
  const std::size_t first = state.turns ? (*state.turns)() % count : 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (state.streams[(first + k) % count]->advance()) return true;
  }
  return false;
}

void* host_driver::allocate(int device, std::size_t bytes) {
  auto& state = at(device);
  const std::string what = "allocation of " + std::to_string(bytes) + " bytes";
  if (bytes > most_bytes) throw out_of_device_memory(state.info.id, what, beyond_memory);
  std::size_t used = state.used_bytes.load(std::memory_order_relaxed);
  do {
    if (cap_bytes_ != 0 && (bytes > cap_bytes_ || used > cap_bytes_ - bytes)) {
      throw out_of_device_memory(
          state.info.id, what,
          "out of memory; " + std::to_string(cap_bytes_ - used) + " bytes free of " +
              std::to_string(cap_bytes_) +
              "; use smaller pieces, or raise host_options::memory_bytes (HEDDLE_HOST_MEMORY)");
    }
  } while (!state.used_bytes.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  void* const memory = ::operator new(bytes, alignment, std::nothrow);
  if (memory == nullptr) {
    state.used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    throw out_of_device_memory(state.info.id, what,
                               "the machine's own memory is used up; use smaller pieces");
  }
  return memory;
}

void host_driver::deallocate(stream_id id, void* memory, std::size_t bytes) noexcept {
  if (at(id).empty()) return deallocate(id.device, memory, bytes);
  at(id).clean_up(operation([this, id, memory, bytes] { deallocate(id.device, memory, bytes); }));
}

// The machine's own memory, whose copies need no detour: it is not counted against the cap.
void* host_driver::allocate_pinned(int device, std::size_t bytes) {
  const std::string what = "allocation of " + std::to_string(bytes) + " pinned bytes";
  if (bytes > most_bytes) throw out_of_device_memory(at(device).info.id, what, beyond_memory);
  void* const memory = ::operator new(bytes, alignment, std::nothrow);
  if (memory != nullptr) return memory;
  throw out_of_device_memory(at(device).info.id, what,
                             "the machine's own memory is used up; use smaller pieces");
}

void host_driver::deallocate_pinned(int, void* memory, std::size_t) noexcept {
  ::operator delete(memory, alignment);
}

void host_driver::deallocate(int device, void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment);
  at(device).used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace heddle::detail
