// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <thread>

#include "entry.hpp"

namespace fake {

namespace {

std::mutex misuse_mutex;  // a leaf
int misuses = 0;
std::string last_misuse;

int number_from_environment(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// An initialised driver does not survive a fork; one that nobody called yet does.
void after_fork_in_child() {
  machine& here = the_machine();
  if (here.used.load(std::memory_order_relaxed)) here.forked.store(true, std::memory_order_relaxed);
}

[[gnu::destructor]] void on_unload() { the_machine().unloading.store(true, std::memory_order_relaxed); }

}  // namespace

machine::machine() {
  driver_version.store(number_from_environment("FAKECUDA_DRIVER_VERSION", CUDART_VERSION));
  const char* const bytes = std::getenv("FAKECUDA_BYTES");
  rebuild(
      number_from_environment("FAKECUDA_DEVICES", 1),
      bytes == nullptr ? std::size_t{1} << 30 : static_cast<std::size_t>(std::strtoull(bytes, nullptr, 0)));
}

machine& the_machine() {
  static machine* const only = [] {
    auto* const made = new machine;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    return made;
  }();
  return *only;
}

void machine::rebuild(int count, std::size_t bytes) {
  for (auto& each : devices) keep(each.release());  // stray handles may still name them
  devices.clear();
  for (int number = 0; number < count; ++number)
    devices.push_back(std::make_unique<device>(*this, number, bytes, count));
}

device* machine::at(int number) const {
  if (number < 0 || number >= static_cast<int>(devices.size())) return nullptr;
  return devices[static_cast<std::size_t>(number)].get();
}

void machine::keep(void* handle) {
  const std::lock_guard lock(kept_mutex_);
  kept_.push_back(handle);
}

void misuse(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  trace("MISUSE %s", text);
  const std::lock_guard lock(misuse_mutex);
  ++misuses;
  last_misuse = text;
}

int misuse_count(char* text, std::size_t size) {
  const std::lock_guard lock(misuse_mutex);
  if (text != nullptr && size > 0) std::snprintf(text, size, "%s", last_misuse.c_str());
  return misuses;
}

void clear_misuse() {
  const std::lock_guard lock(misuse_mutex);
  misuses = 0;
  last_misuse.clear();
}

void sleep_us(int microseconds) {
  if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

}  // namespace fake
