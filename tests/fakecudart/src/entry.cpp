// SPDX-License-Identifier: Apache-2.0
#include "entry.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "call_log.hpp"
#include "injection.hpp"

namespace fake {

namespace {

std::atomic<api_entry*> entries{nullptr};

void list(api_entry& entry) {
  if (entry.listed.load(std::memory_order_relaxed) || entry.listed.exchange(true, std::memory_order_relaxed))
    return;
  api_entry* first = entries.load(std::memory_order_relaxed);
  do {
    entry.next = first;
  } while (
      !entries.compare_exchange_weak(first, &entry, std::memory_order_acq_rel, std::memory_order_relaxed));
}

std::FILE* trace_file() {
  static std::FILE* const file = [] {
    const char* const name = std::getenv("FAKECUDA_TRACE");
    return name == nullptr ? nullptr : std::fopen(name, "w");
  }();
  return file;
}

}  // namespace

cudaError_t process_state() {
  const machine& here = the_machine();
  if (here.unloading.load(std::memory_order_relaxed)) return cudaErrorCudartUnloading;
  if (here.stub_library.load(std::memory_order_relaxed)) return cudaErrorStubLibrary;
  if (here.driver_version.load(std::memory_order_relaxed) < CUDART_VERSION)
    return cudaErrorInsufficientDriver;
  if (here.forked.load(std::memory_order_relaxed)) return cudaErrorInitializationError;
  return cudaSuccess;
}

cudaError_t enter(api_entry& entry) {
  entry.calls.fetch_add(1, std::memory_order_relaxed);
  list(entry);
  machine& here = the_machine();
  const thread_state& thread = self();
  log_call(entry.name, thread.contexts.empty() ? -1 : thread.current_device());
  trace("%d device %d %s", static_cast<int>(::gettid()), thread.current_device(), entry.name);
  if (thread.in_callback) {
    misuse("%s called from a host function", entry.name);
    return cudaErrorNotPermitted;
  }
  if (const cudaError_t state = process_state()) return state;
  here.used.store(true, std::memory_order_relaxed);
  if (here.devices.empty() && std::strcmp(entry.name, "cudaGetDeviceCount") != 0) return cudaErrorNoDevice;
  return injected_error(entry.name, thread.current_device());
}

cudaError_t fail(cudaError_t status) {
  if (status == cudaSuccess) return status;
  if (status == cudaErrorNotReady && !the_machine().not_ready_sticks.load(std::memory_order_relaxed))
    return status;
  self().last = status;
  return status;
}

long calls_of(const char* name) {
  long sum = 0;
  for (const api_entry* each = entries.load(std::memory_order_acquire); each != nullptr; each = each->next)
    if (name == nullptr || std::strcmp(name, each->name) == 0)
      sum += each->calls.load(std::memory_order_relaxed);
  return sum;
}

void clear_calls() {
  for (api_entry* each = entries.load(std::memory_order_acquire); each != nullptr; each = each->next)
    each->calls.store(0, std::memory_order_relaxed);
}

void trace(const char* format, ...) {
  std::FILE* const file = trace_file();
  if (file == nullptr) return;
  char line[640];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(file, "%s\n", line);
  std::fflush(file);
}

}  // namespace fake
