// SPDX-License-Identifier: Apache-2.0
#include "config/environment.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <map>
#include <string>

namespace heddle::detail {
namespace {

using variables = std::map<std::string, std::string>;

variable_lookup from(const variables& set) {
  return [&set](const char* name) {
    const auto at = set.find(name);
    return at == set.end() ? nullptr : at->second.c_str();
  };
}

scheduler_options options(const variables& set) { return options_from(from(set)); }

std::string refusal(const std::string& name, const std::string& value) {
  try {
    options({{name, value}});
  } catch (const invalid_option& e) {
    return e.what();
  }
  return "accepted";
}

void expect_refused(const std::string& name, std::initializer_list<const char*> values,
                    const std::string& takes) {
  for (const std::string value : values)
    EXPECT_EQ(refusal(name, value), name + "=" + value + ": takes " + takes);
}

// A variable, a value that is not the default, and whether the options then hold what it says.
struct example {
  const char* name;
  const char* value;
  bool (*holds)(const scheduler_options&);
};

const example examples[] = {
    {"HEDDLE_BACKEND", "host", [](const auto& o) { return o.use == backend::host; }},
    {"HEDDLE_DEVICES", "1,host:0",
     [](const auto& o) {
       return o.devices == std::vector<std::string>{"1", "host:0"};
     }},
    {"HEDDLE_IDS", "7,0",
     [](const auto& o) {
       return o.ids == std::vector<int>{7, 0};
     }},
    {"HEDDLE_HOST_DEVICES", "4", [](const auto& o) { return o.host.devices == 4; }},
    {"HEDDLE_HOST_MEMORY", "512M", [](const auto& o) { return o.host.memory_bytes == 512u << 20; }},
    {"HEDDLE_HOST_MODE", "deferred", [](const auto& o) { return o.host.mode == host_mode::deferred; }},
    {"HEDDLE_HOST_SEED", "99", [](const auto& o) { return o.host.seed == 99; }},
    {"HEDDLE_ARENA_THREADS", "3", [](const auto& o) { return o.arena_threads == 3; }},
    {"HEDDLE_STREAMS", "64", [](const auto& o) { return o.streams_per_device == 64; }},
    {"HEDDLE_WINDOW", "1024", [](const auto& o) { return o.window_per_stream == 1024; }},
    {"HEDDLE_QUEUE_CAPACITY", "1", [](const auto& o) { return o.queue_capacity == 1; }},
    {"HEDDLE_WHEN_FULL", "reject", [](const auto& o) { return o.full == when_full::reject; }},
    {"HEDDLE_AT_START", "lenient", [](const auto& o) { return o.at_start == on_start_failure::lenient; }},
    {"HEDDLE_TIMES", "1", [](const auto& o) { return o.record_times; }},
};

TEST(Environment, SetsOneMemberPerVariableAndNoOther) {
  for (const example& set : examples) {
    const scheduler_options o = options({{set.name, set.value}});
    for (const example& other : examples) {
      EXPECT_EQ(other.holds(o), &other == &set) << set.name << " seen in " << other.name;
    }
  }
}

TEST(Environment, HasAnExampleHereForEveryKnownVariable) {
  variables named;
  for (const example& e : examples) named[e.name];
  for (const std::string& name : known_variables()) EXPECT_EQ(named.erase(name), 1u) << name;
  EXPECT_TRUE(named.empty());
}

TEST(Environment, TakesEmptyAsUnset) {
  for (const example& e : examples) EXPECT_FALSE(e.holds(options({{e.name, ""}}))) << e.name;
}

TEST(Environment, RefusesEveryVariableWithASentenceThatNamesIt) {
  for (const example& e : examples) {
    const std::string name = e.name;
    if (name == "HEDDLE_DEVICES") continue;  // what a device may be called only the machine knows
    const std::string message = refusal(name, "?!");
    EXPECT_EQ(message.find(name + "=?!: takes "), 0u) << message;
  }
}

TEST(Environment, RefusesANumberOfStreamsOutOfRange) {
  expect_refused(
      "HEDDLE_STREAMS",
      {"abc", "0", "65", "-1", "+1", " 1", "1 ", "1.0", "1e1", "0x1", "1,2", "99999999999999999999999"},
      "a whole number from 1 to 64");
}

TEST(Environment, RefusesANumberPastEveryOtherRange) {
  expect_refused("HEDDLE_WINDOW", {"0", "1025"}, "a whole number from 1 to 1024");
  expect_refused("HEDDLE_ARENA_THREADS", {"0", "1", "2", "1025"}, "a whole number from 3 to 1024");
  expect_refused("HEDDLE_HOST_DEVICES", {"-1", "1025"}, "a whole number from 0 to 1024");
  expect_refused("HEDDLE_QUEUE_CAPACITY", {"0", "18446744073709551616"},
                 "a whole number from 1 to 18446744073709551615");
  expect_refused("HEDDLE_HOST_SEED", {"-1", "18446744073709551616"},
                 "a whole number from 0 to 18446744073709551615");
}

TEST(Environment, AcceptsBothEndsOfEveryRange) {
  for (const auto& [name, value] : variables{{"HEDDLE_STREAMS", "1"},
                                             {"HEDDLE_WINDOW", "1"},
                                             {"HEDDLE_ARENA_THREADS", "1024"},
                                             {"HEDDLE_HOST_DEVICES", "0"},
                                             {"HEDDLE_QUEUE_CAPACITY", "18446744073709551615"},
                                             {"HEDDLE_HOST_SEED", "18446744073709551615"}}) {
    EXPECT_EQ(refusal(name, value), "accepted") << name;
  }
  EXPECT_EQ(refusal("HEDDLE_HOST_DEVICES", "1024"), "accepted");
}

TEST(Environment, RefusesAWordThatIsNoChoiceAndListsThem) {
  expect_refused("HEDDLE_BACKEND", {"gpu", "Host", "host "}, "automatic, cuda or host");
  expect_refused("HEDDLE_HOST_MODE", {"now"}, "immediate or deferred");
  expect_refused("HEDDLE_WHEN_FULL", {"drop"}, "wait or reject");
  expect_refused("HEDDLE_AT_START", {"Strict"}, "strict or lenient");
  expect_refused("HEDDLE_TIMES", {"2", "true", "00"}, "0 or 1");
}

TEST(Environment, ReadsBytesWithEverySuffix) {
  const auto bytes = [](const char* text) {
    return options({{"HEDDLE_HOST_MEMORY", text}}).host.memory_bytes;
  };
  EXPECT_EQ(bytes("0"), 0u);
  EXPECT_EQ(bytes("1000"), 1000u);
  EXPECT_EQ(bytes("3K"), 3072u);
  EXPECT_EQ(bytes("3m"), std::size_t{3} << 20);
  EXPECT_EQ(bytes("5G"), std::size_t{5} << 30);
  EXPECT_EQ(bytes("16777215t"), std::size_t{16777215} << 40);
  EXPECT_EQ(bytes("18446744073709551615"), std::numeric_limits<std::size_t>::max());
}

TEST(Environment, RefusesBytesThatAreNoNumberOrDoNotFit) {
  expect_refused(
      "HEDDLE_HOST_MEMORY",
      {"M", "-1M", "1.5G", "5 G", "5GB", "5X", "16777216T", "18446744073709551616", "18446744073709551615K"},
      "a number of bytes, with K, M, G or T behind it for powers of 1024, such as 512M");
}

TEST(Environment, TrimsTheNamesOfAList) {
  EXPECT_EQ(options({{"HEDDLE_DEVICES", " 0 ,GPU-89 "}}).devices, (std::vector<std::string>{"0", "GPU-89"}));
  EXPECT_EQ(options({{"HEDDLE_IDS", "3, 1"}}).ids, (std::vector<int>{3, 1}));
}

TEST(Environment, RefusesAListWithAnEmptyName) {
  expect_refused("HEDDLE_DEVICES", {",", "0,", ",0", "0,,1", " "},
                 "device names with a comma between two, each 0, host:1 or a uuid");
}

TEST(Environment, RefusesIdsThatAreNegativeRepeatedOrNoNumbers) {
  expect_refused("HEDDLE_IDS", {"-1", "0,0", "0,x", "0,,1", "2147483648", "0;1"},
                 "whole numbers from 0 with a comma between two, no number twice, such as 0,1,2");
}

TEST(Environment, ShowsALongOrUnprintableValueInBrief) {
  EXPECT_EQ(refusal("HEDDLE_STREAMS", "a\nb"), "HEDDLE_STREAMS=a?b: takes a whole number from 1 to 64");
  const std::string message = refusal("HEDDLE_STREAMS", std::string(5000, 'x'));
  EXPECT_EQ(message, "HEDDLE_STREAMS=" + std::string(80, 'x') + "…: takes a whole number from 1 to 64");
}

TEST(Environment, ReadsTheHostVariablesAlone) {
  const variables set = {{"HEDDLE_STREAMS", "bad"}, {"HEDDLE_HOST_DEVICES", "3"}};
  EXPECT_EQ(host_options_from(from(set)).devices, 3);
  EXPECT_THROW(host_options_from(from({{"HEDDLE_HOST_DEVICES", "x"}})), invalid_option);
}

TEST(Environment, OfTheProcessIsWhatFromEnvironmentReads) {
  ASSERT_EQ(setenv("HEDDLE_STREAMS", "5", 1), 0);
  const int streams = scheduler_options::from_environment().streams_per_device;
  unsetenv("HEDDLE_STREAMS");
  EXPECT_EQ(streams, 5);
  EXPECT_EQ(scheduler_options::from_environment().streams_per_device, 0);
}

}  // namespace
}  // namespace heddle::detail
