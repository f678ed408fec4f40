// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <cstdio>
#include <cstring>

#include "machine.hpp"
#include "pool.hpp"

namespace fake {

device::device(machine& where, int number, std::size_t bytes, int devices)
    : home(&where), id(number), legacy(new stream(*this, 0, 0, 0)), capacity(bytes) {
  context.dev = this;
  name = "Fake GPU " + std::to_string(number);
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", (0x17 + number * 0x10) & 0xff);
  pci = text;
  std::memcpy(uuid, "heddle-fake", 11);
  uuid[15] = static_cast<char>(number);
  reachable.assign(static_cast<std::size_t>(devices), 1);
  corrupt.assign(static_cast<std::size_t>(devices), 0);
  where.keep(legacy);
  default_pool = new pool(*this);
  where.keep(default_pool);
  current_pool = default_pool;
  pools.insert(default_pool);
}

void device::count_towards_fault() {
  if (fault_in.load(std::memory_order_relaxed) < 0) return;
  if (fault_in.fetch_sub(1, std::memory_order_relaxed) == 0)
    sticky.store(fault_error.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void device::gate(bool closed) {
  gated_.store(closed, std::memory_order_relaxed);
  gate_bell_.ring();
}

// Not a condition variable: its mutex would order the stream after whatever the host did before it opened the
// gate.
void device::wait_for_gate() {
  for (;;) {
    const std::uint32_t seen = gate_bell_.look();
    if (!gated_.load(std::memory_order_relaxed)) return;
    gate_bell_.sleep(seen);
  }
}

std::vector<stream*> device::blocking_streams() {
  std::vector<stream*> found;
  const std::lock_guard lock(mutex);
  for (const auto* set : {&streams, &implicit_streams})
    for (stream* const each : *set)
      if (each->blocking()) found.push_back(each);
  return found;
}

cudaError_t device::wait_idle() {
  std::vector<stream*> all{legacy};
  std::vector<mark*> ends;
  {
    const std::lock_guard lock(mutex);
    all.insert(all.end(), streams.begin(), streams.end());
    all.insert(all.end(), implicit_streams.begin(), implicit_streams.end());
    ends.swap(draining);
  }
  for (stream* const each : all)
    if (each->recording.load(std::memory_order_relaxed) == nullptr && !each->idle())
      ends.push_back(each->mark_now());
  for (mark* const end : ends) end->wait();
  return sticky_error();
}

}  // namespace fake
