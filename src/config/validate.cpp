// SPDX-License-Identifier: Apache-2.0
#include "config/validate.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "config/limits.hpp"

namespace heddle::detail {
namespace {

[[noreturn]] void refuse(std::string_view member, const std::string& value, const std::string& takes) {
  throw invalid_option("scheduler_options::" + std::string(member) + " = " + value + ": takes " + takes);
}

// 0 stands for the default, whatever the range.
void check(std::string_view member, int value, whole_range range) {
  if (value == 0 || (value > 0 && range.contains(static_cast<std::uint64_t>(value)))) return;
  const bool says_zero = range.contains(0);
  refuse(member, std::to_string(value), range.described() + (says_zero ? "" : ", or 0 for the default"));
}

template <class Enum>
void check_one_of(std::string_view member, Enum value, Enum last, const char* names) {
  const int number = static_cast<int>(value);
  if (number < 0 || number > static_cast<int>(last)) refuse(member, std::to_string(number), names);
}

}  // namespace

void validate(const scheduler_options& o) {
  check_one_of("use", o.use, backend::host, "backend::automatic, backend::cuda or backend::host");
  check_one_of("host.mode", o.host.mode, host_mode::deferred, "host_mode::immediate or host_mode::deferred");
  check_one_of("full", o.full, when_full::reject, "when_full::wait or when_full::reject");
  check_one_of("at_start", o.at_start, on_start_failure::lenient,
               "on_start_failure::strict or on_start_failure::lenient");
  for (const std::string& name : o.devices) {
    if (name.empty()) {
      refuse("devices", "\"\"",
             "device names, each " + std::string(device_examples) + ", or an empty list for all");
    }
  }
  for (auto id = o.ids.begin(); id != o.ids.end(); ++id) {
    if (*id < 0) refuse("ids", std::to_string(*id), id_range.described() + " for each device");
    if (std::find(o.ids.begin(), id, *id) != id) {
      refuse("ids", std::to_string(*id) + " twice", "an id of its own for each device");
    }
  }
  check("host.devices", o.host.devices, host_devices_range);
  check("arena_threads", o.arena_threads, arena_threads_range);
  check("streams_per_device", o.streams_per_device, streams_range);
  check("window_per_stream", o.window_per_stream, window_range);
  if (o.queue_capacity == 0) refuse("queue_capacity", "0", capacity_range.described());
}

}  // namespace heddle::detail
