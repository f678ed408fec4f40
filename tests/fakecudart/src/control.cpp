// SPDX-License-Identifier: Apache-2.0
// The control interface; its contract is in fakecudart.h.
#include <algorithm>
#include <cstring>
#include <thread>

#include "block.hpp"
#include "call_log.hpp"
#include "entry.hpp"
#include "fakecudart.h"
#include "injection.hpp"
#include "kernels.hpp"
#include "pool.hpp"

namespace fake {

namespace {

void stop_all_streams(machine& here) {
  for (auto& each : here.devices) {
    each->legacy->stop();
    const std::lock_guard lock(each->mutex);
    for (const auto* set : {&each->streams, &each->implicit_streams})
      for (stream* const one : *set) {
        one->magic.store(dead_handle, std::memory_order_relaxed);
        one->stop();
      }
  }
  while (here.workers.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

void clear_switches(machine& here) {
  here.unloading = false;
  here.stub_library = false;
  here.used = false;
  here.driver_version = CUDART_VERSION;
  here.harsh = false;
  here.not_ready_sticks = true;
  here.ignore_missing_twins = false;
  here.slow_init_us = 0;
  here.global_captures = 0;
}

void clear_graphs(machine& here) {
  const std::lock_guard lock(here.mutex);
  for (graph* const each : here.graphs) delete each;
  for (graph_exec* const each : here.execs) delete each;
  here.graphs.clear();
  here.execs.clear();
  here.captures.clear();
  here.retired.clear();
}

void add_live(device& of, fakecuda_live_t& sum) {
  sum.contexts += of.context.active.load(std::memory_order_relaxed);
  sum.events += of.events.load(std::memory_order_relaxed);
  const std::lock_guard lock(of.mutex);
  sum.streams += static_cast<long>(of.streams.size());
  sum.device_bytes += of.in_use;
  sum.reserved_bytes += of.committed;
  for (const auto* set : {&of.streams, &of.implicit_streams})
    for (const stream* const each : *set) sum.ops_queued += each->queued();
  sum.ops_queued += of.legacy->queued();
  for (const pool* const each : of.pools)
    sum.pools += each != of.default_pool && each->magic.load(std::memory_order_relaxed) == live_pool;
}

template <class F>
void with_device(int number, F body) {
  if (device* const named = the_machine().at(number)) body(*named);
}

}  // namespace

}  // namespace fake

using namespace fake;

extern "C" {

int fakecuda_is_fake() { return 1; }

void fakecuda_reset(int devices, size_t bytes) {
  machine& here = the_machine();
  fakecuda_drain();
  stop_all_streams(here);
  clear_graphs(here);
  forget_blocks();
  unload_kernels();
  here.rebuild(devices, bytes);
  clear_switches(here);
  clear_injections();
  clear_calls();
  clear_misuse();
  switch_log(false);
  here.epoch.fetch_add(1, std::memory_order_relaxed);
}

void fakecuda_set_peer(int from, int to, int reachable) {
  with_device(from, [&](device& of) {
    if (the_machine().at(to) != nullptr) of.reachable[static_cast<std::size_t>(to)] = reachable != 0;
  });
}

void fakecuda_corrupt_peer(int from, int to, int on) {
  with_device(from, [&](device& of) {
    if (the_machine().at(to) != nullptr) of.corrupt[static_cast<std::size_t>(to)] = on != 0;
  });
}

void fakecuda_set_numa(int number, int node) {
  with_device(number, [&](device& of) { of.numa.store(node, std::memory_order_relaxed); });
}

void fakecuda_set_pci(int number, const char* bus_id) {
  with_device(number, [&](device& of) { of.pci = bus_id; });
}

void fakecuda_set_uuid(int number, const void* bytes_16) {
  with_device(number, [&](device& of) { std::memcpy(of.uuid, bytes_16, sizeof of.uuid); });
}

void fakecuda_set_name(int number, const char* name) {
  with_device(number, [&](device& of) { of.name = name; });
}

void fakecuda_driver_version(int version) { the_machine().driver_version = version; }
void fakecuda_stub_library(int on) { the_machine().stub_library = on != 0; }
void fakecuda_unloading(int on) { the_machine().unloading = on != 0; }
void fakecuda_slow_init_us(int microseconds) { the_machine().slow_init_us = microseconds; }

void fakecuda_fail_device(int number, int error) {
  with_device(number, [&](device& of) { of.refuse.store(error, std::memory_order_relaxed); });
}

void fakecuda_gate(int number, int closed) {
  with_device(number, [&](device& of) { of.gate(closed != 0); });
}

void fakecuda_set_latency_us(int number, int launch_host, int kernel, int copy) {
  with_device(number, [&](device& of) {
    of.launch_us = launch_host;
    of.kernel_us = kernel;
    of.copy_us = copy;
  });
}

void fakecuda_harsh(int on) { the_machine().harsh = on != 0; }
void fakecuda_not_ready_sticks(int on) { the_machine().not_ready_sticks = on != 0; }
void fakecuda_ignore_missing_twins(int on) { the_machine().ignore_missing_twins = on != 0; }

void fakecuda_drain() {
  for (auto& each : the_machine().devices) each->gate(false);
  for (auto& each : the_machine().devices) each->wait_idle();
}

void fakecuda_inject(const char* api, int number, long skip, long count, int error) {
  add_injection(api, number, skip, count, static_cast<cudaError_t>(error));
}

void fakecuda_clear_injections() { clear_injections(); }

void fakecuda_async_fault(int number, long nth, int error) {
  with_device(number, [&](device& of) {
    of.fault_error.store(error, std::memory_order_relaxed);
    of.fault_in.store(nth, std::memory_order_relaxed);
  });
}

void fakecuda_set_sticky(int number, int error) {
  with_device(number, [&](device& of) { of.sticky.store(error, std::memory_order_relaxed); });
}

void fakecuda_limit_memory(int number, size_t bytes) {
  with_device(number, [&](device& of) {
    const std::lock_guard lock(of.mutex);
    of.capacity = bytes;
  });
}

fakecuda_live_t fakecuda_live(int number) {
  machine& here = the_machine();
  fakecuda_live_t sum{};
  for (auto& each : here.devices)
    if (number < 0 || number == each->id) add_live(*each, sum);
  count_blocks(number, sum.device_allocs, sum.host_allocs);
  const std::lock_guard lock(here.mutex);
  for (const graph* const each : here.graphs) sum.graphs += number < 0 || each->device == number;
  for (const graph_exec* const each : here.execs) sum.graphs += number < 0 || each->device == number;
  return sum;
}

long fakecuda_calls(const char* api) { return calls_of(api); }

long fakecuda_kernels_run(int number) {
  const device* const named = the_machine().at(number);
  return named == nullptr ? 0 : named->kernels.load(std::memory_order_relaxed);
}

long fakecuda_contexts_made(int number) {
  const device* const named = the_machine().at(number);
  return named == nullptr ? 0 : named->context.made.load(std::memory_order_relaxed);
}

long fakecuda_primary_refs(int number) {
  const device* const named = the_machine().at(number);
  return named == nullptr ? 0 : named->context.refs.load(std::memory_order_acquire);
}

long fakecuda_default_pool_touched(int number) {
  const device* const named = the_machine().at(number);
  return named == nullptr ? 0 : named->default_pool_touched.load(std::memory_order_relaxed);
}

int fakecuda_context_depth() { return static_cast<int>(self().contexts.size()); }

int fakecuda_misuse(char* text, size_t size) { return misuse_count(text, size); }
}
