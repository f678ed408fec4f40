// SPDX-License-Identifier: Apache-2.0
#include "observe/error_sink.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <utility>

namespace heddle::detail {

namespace {

struct sink_table {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<error_sink>> sinks;  // guarded by mutex
};

// Never destroyed: futures may report during the process's last static destructors.
sink_table& table() {
  static auto* const only = new sink_table;
  return *only;
}

void print(const std::string& message) noexcept { std::fprintf(stderr, "heddle: %s\n", message.c_str()); }

thread_local bool reporting = false;  // a report from inside the function must not take the mutex twice

}  // namespace

void error_sink::report(const error_event& event) noexcept {
  if (!function_ || reporting) {
    print(event.message);
    return;
  }
  const std::lock_guard lock(mutex_);
  reporting = true;
  try {
    function_(event);
  } catch (...) {
    print("on_error itself threw (" + text_of(std::current_exception()) + ") while told: " + event.message);
  }
  reporting = false;
}

void register_sink(std::uint64_t serial, std::shared_ptr<error_sink> sink) {
  const std::lock_guard lock(table().mutex);
  table().sinks.emplace(serial, std::move(sink));
}

void unregister_sink(std::uint64_t serial) noexcept {
  const std::lock_guard lock(table().mutex);
  table().sinks.erase(serial);
}

void report_to(std::uint64_t serial, const error_event& event) noexcept {
  std::shared_ptr<error_sink> sink;
  {
    const std::lock_guard lock(table().mutex);
    const auto found = table().sinks.find(serial);
    if (found != table().sinks.end()) sink = found->second;
  }
  if (sink) {
    sink->report(event);
  } else {
    print(event.message);
  }
}

std::string text_of(const std::exception_ptr& error) {
  if (!error) return "no error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace heddle::detail
