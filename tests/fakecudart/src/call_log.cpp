// SPDX-License-Identifier: Apache-2.0
#include "call_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "fakecudart.h"

namespace fake {

namespace {

constexpr long most_entries = 100'000;

std::atomic<bool> logging{false};
std::atomic<long> written{0};
std::vector<fakecuda_log_entry_t>& entries() {
  static auto* const all = new std::vector<fakecuda_log_entry_t>;
  return *all;
}

unsigned long this_thread() {
  static thread_local const auto number = static_cast<unsigned long>(::gettid());
  return number;
}

}  // namespace

void log_call(const char* api, int device) {
  if (!logging.load(std::memory_order_relaxed)) return;
  const long index = written.fetch_add(1, std::memory_order_relaxed);
  if (index < most_entries) entries()[static_cast<std::size_t>(index)] = {api, this_thread(), device};
}

void switch_log(bool on) {
  if (on) {
    entries().resize(most_entries);
    written.store(0, std::memory_order_relaxed);
  }
  logging.store(on, std::memory_order_relaxed);
}

}  // namespace fake

extern "C" {

void fakecuda_log(int on) { fake::switch_log(on != 0); }

long fakecuda_log_count(void) {
  return std::min(fake::written.load(std::memory_order_relaxed), fake::most_entries);
}

int fakecuda_log_entry(long index, fakecuda_log_entry_t* entry) {
  if (index < 0 || index >= fakecuda_log_count()) return 0;
  *entry = fake::entries()[static_cast<std::size_t>(index)];
  return 1;
}

long fakecuda_calls_on_thread(const char* api, unsigned long thread) {
  long found = 0;
  for (long index = 0; index < fakecuda_log_count(); ++index) {
    const fakecuda_log_entry_t& entry = fake::entries()[static_cast<std::size_t>(index)];
    found += entry.thread == thread && (api == nullptr || std::strcmp(api, entry.api) == 0);
  }
  return found;
}
}
