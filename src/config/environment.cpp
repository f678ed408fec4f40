// SPDX-License-Identifier: Apache-2.0
#include "config/environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "config/limits.hpp"
#include "config/number.hpp"
#include "config/text.hpp"

namespace heddle {
namespace detail {
namespace {

struct setting {
  std::string_view name;
  std::string_view value;
};

[[noreturn]] void refuse(const setting& s, const std::string& takes) {
  constexpr std::size_t most = 80;
  std::string shown(s.value.substr(0, most));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  if (s.value.size() > most) shown += "…";
  throw invalid_option(std::string(s.name) + "=" + shown + ": takes " + takes);
}

template <class T>
T number(const setting& s, whole_range range) {
  const auto value = whole_number<std::uint64_t>(s.value);
  if (!value || !range.contains(*value)) refuse(s, range.described());
  return static_cast<T>(*value);
}

std::size_t bytes(const setting& s) {
  constexpr std::string_view letters = "KMGT";
  std::string_view digits = s.value;
  unsigned shift = 0;
  const char last = digits.back();
  const std::size_t power = letters.find(last >= 'a' ? static_cast<char>(last - 'a' + 'A') : last);
  if (power != std::string_view::npos) {
    shift = 10 * (static_cast<unsigned>(power) + 1);
    digits.remove_suffix(1);
  }
  const auto value = whole_number<std::size_t>(digits);
  if (!value || (*value << shift) >> shift != *value) {
    refuse(s, "a number of bytes, with K, M, G or T behind it for powers of 1024, such as 512M");
  }
  return *value << shift;
}

template <class Value>
Value one_of(const setting& s, std::initializer_list<std::pair<std::string_view, Value>> choices) {
  std::string names;
  std::size_t left = choices.size();
  for (const auto& [name, value] : choices) {
    if (s.value == name) return value;
    names += std::string(name) + (left > 2 ? ", " : left == 2 ? " or " : "");
    --left;
  }
  refuse(s, names);
}

std::vector<std::string> device_list(const setting& s) {
  std::vector<std::string> names;
  for (const std::string_view piece : pieces(s.value, ',')) {
    names.emplace_back(trimmed(piece));
    if (names.back().empty()) {
      refuse(s, "device names with a comma between two, each " + std::string(device_examples));
    }
  }
  return names;
}

std::vector<int> id_list(const setting& s) {
  std::vector<int> ids;
  for (const std::string_view piece : pieces(s.value, ',')) {
    const auto id = whole_number<int>(trimmed(piece));
    if (!id || *id < 0 || std::find(ids.begin(), ids.end(), *id) != ids.end()) {
      refuse(s, "whole numbers from 0 with a comma between two, no number twice, such as 0,1,2");
    }
    ids.push_back(*id);
  }
  return ids;
}

struct variable {
  const char* name;
  void (*apply)(const setting&, scheduler_options&);
};

constexpr variable host_variables[] = {
    {"HEDDLE_HOST_DEVICES",
     [](const setting& s, scheduler_options& o) { o.host.devices = number<int>(s, host_devices_range); }},
    {"HEDDLE_HOST_MEMORY", [](const setting& s, scheduler_options& o) { o.host.memory_bytes = bytes(s); }},
    {"HEDDLE_HOST_MODE",
     [](const setting& s, scheduler_options& o) {
       o.host.mode =
           one_of<host_mode>(s, {{"immediate", host_mode::immediate}, {"deferred", host_mode::deferred}});
     }},
    {"HEDDLE_HOST_SEED",
     [](const setting& s, scheduler_options& o) {
       o.host.seed = number<std::uint64_t>(s, {0, std::numeric_limits<std::uint64_t>::max()});
     }},
};

constexpr variable other_variables[] = {
    {"HEDDLE_BACKEND",
     [](const setting& s, scheduler_options& o) {
       o.use = one_of<backend>(
           s, {{"automatic", backend::automatic}, {"cuda", backend::cuda}, {"host", backend::host}});
     }},
    {"HEDDLE_DEVICES", [](const setting& s, scheduler_options& o) { o.devices = device_list(s); }},
    {"HEDDLE_IDS", [](const setting& s, scheduler_options& o) { o.ids = id_list(s); }},
    {"HEDDLE_ARENA_THREADS",
     [](const setting& s, scheduler_options& o) { o.arena_threads = number<int>(s, arena_threads_range); }},
    {"HEDDLE_STREAMS",
     [](const setting& s, scheduler_options& o) { o.streams_per_device = number<int>(s, streams_range); }},
    {"HEDDLE_WINDOW",
     [](const setting& s, scheduler_options& o) { o.window_per_stream = number<int>(s, window_range); }},
    {"HEDDLE_QUEUE_CAPACITY",
     [](const setting& s, scheduler_options& o) {
       o.queue_capacity = number<std::size_t>(s, capacity_range);
     }},
    {"HEDDLE_WHEN_FULL",
     [](const setting& s, scheduler_options& o) {
       o.full = one_of<when_full>(s, {{"wait", when_full::wait}, {"reject", when_full::reject}});
     }},
    {"HEDDLE_AT_START",
     [](const setting& s, scheduler_options& o) {
       o.at_start = one_of<on_start_failure>(
           s, {{"strict", on_start_failure::strict}, {"lenient", on_start_failure::lenient}});
     }},
    {"HEDDLE_TIMES",
     [](const setting& s, scheduler_options& o) {
       o.record_times = one_of<bool>(s, {{"0", false}, {"1", true}});
     }},
};

template <std::size_t Count>
void apply_all(const variable (&variables)[Count], const variable_lookup& lookup,
               scheduler_options& options) {
  for (const variable& v : variables) {
    const char* value = lookup(v.name);
    if (value != nullptr && *value != '\0') v.apply({v.name, value}, options);
  }
}

}  // namespace

scheduler_options options_from(const variable_lookup& lookup) {
  scheduler_options options;
  apply_all(other_variables, lookup, options);
  apply_all(host_variables, lookup, options);
  return options;
}

host_options host_options_from(const variable_lookup& lookup) {
  scheduler_options options;
  apply_all(host_variables, lookup, options);
  return options.host;
}

std::vector<std::string> known_variables() {
  std::vector<std::string> names;
  for (const variable& v : other_variables) names.emplace_back(v.name);
  for (const variable& v : host_variables) names.emplace_back(v.name);
  return names;
}

}  // namespace detail

scheduler_options scheduler_options::from_environment() {
  return detail::options_from([](const char* name) { return std::getenv(name); });
}

}  // namespace heddle
