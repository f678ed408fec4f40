// SPDX-License-Identifier: Apache-2.0
#include "config/validate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "config/environment.hpp"

namespace heddle::detail {
namespace {

template <class Change>
std::string refusal(Change change) {
  scheduler_options o;
  change(o);
  try {
    validate(o);
  } catch (const invalid_option& e) {
    return e.what();
  }
  return "accepted";
}

// One member of int, its range beside 0, and how the sentence ends.
struct bounded {
  const char* member;
  int& (*get)(scheduler_options&);
  int lowest;
  int highest;
  const char* takes;
};

const bounded members[] = {
    {"host.devices", [](scheduler_options& o) -> int& { return o.host.devices; }, 0, 1024,
     "a whole number from 0 to 1024"},
    {"arena_threads", [](scheduler_options& o) -> int& { return o.arena_threads; }, 3, 1024,
     "a whole number from 3 to 1024, or 0 for the default"},
    {"streams_per_device", [](scheduler_options& o) -> int& { return o.streams_per_device; }, 1, 64,
     "a whole number from 1 to 64, or 0 for the default"},
    {"window_per_stream", [](scheduler_options& o) -> int& { return o.window_per_stream; }, 1, 1024,
     "a whole number from 1 to 1024, or 0 for the default"},
};

TEST(Validate, AcceptsTheDefaults) {
  EXPECT_EQ(refusal([](scheduler_options&) {}), "accepted");
}

TEST(Validate, AcceptsExactlyTheRangeOfEachNumberAndZero) {
  for (const bounded& m : members) {
    for (int value = -3; value <= 1030; ++value) {
      const bool good = value == 0 || (m.lowest <= value && value <= m.highest);
      const auto expected = good ? "accepted"
                                 : "scheduler_options::" + std::string(m.member) + " = " +
                                       std::to_string(value) + ": takes " + m.takes;
      ASSERT_EQ(refusal([&](scheduler_options& o) { m.get(o) = value; }), expected);
    }
    for (const int value : {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
      ASSERT_NE(refusal([&](scheduler_options& o) { m.get(o) = value; }), "accepted") << m.member;
    }
  }
}

TEST(Validate, RefusesAQueueWithoutRoom) {
  EXPECT_EQ(refusal([](scheduler_options& o) { o.queue_capacity = 0; }),
            "scheduler_options::queue_capacity = 0: takes a whole number from 1 to 18446744073709551615");
}

TEST(Validate, RefusesAnEmptyDeviceName) {
  EXPECT_EQ(
      refusal([](scheduler_options& o) {
        o.devices = {"0", ""};
      }),
      "scheduler_options::devices = \"\": takes device names, each 0, host:1 or a uuid, or an empty list "
      "for all");
}

TEST(Validate, RefusesANegativeId) {
  EXPECT_EQ(refusal([](scheduler_options& o) {
              o.ids = {0, -1};
            }),
            "scheduler_options::ids = -1: takes a whole number from 0 to 2147483647 for each device");
}

TEST(Validate, RefusesAnIdGivenTwice) {
  EXPECT_EQ(refusal([](scheduler_options& o) {
              o.ids = {4, 0, 4};
            }),
            "scheduler_options::ids = 4 twice: takes an id of its own for each device");
}

TEST(Validate, RefusesEnumeratorsThatDoNotExist) {
  EXPECT_EQ(refusal([](scheduler_options& o) { o.use = static_cast<backend>(3); }),
            "scheduler_options::use = 3: takes backend::automatic, backend::cuda or backend::host");
  EXPECT_NE(refusal([](scheduler_options& o) { o.host.mode = static_cast<host_mode>(-1); }), "accepted");
  EXPECT_NE(refusal([](scheduler_options& o) { o.full = static_cast<when_full>(2); }), "accepted");
  EXPECT_NE(refusal([](scheduler_options& o) { o.at_start = static_cast<on_start_failure>(2); }), "accepted");
}

TEST(Validate, AcceptsWhateverTheEnvironmentAccepts) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"HEDDLE_HOST_DEVICES", "1024"},
                                                                  {"HEDDLE_ARENA_THREADS", "3"},
                                                                  {"HEDDLE_ARENA_THREADS", "1024"},
                                                                  {"HEDDLE_STREAMS", "64"},
                                                                  {"HEDDLE_WINDOW", "1024"},
                                                                  {"HEDDLE_QUEUE_CAPACITY", "1"},
                                                                  {"HEDDLE_IDS", "2147483647"}}) {
    const auto lookup = [n = name, v = value](const char* asked) {
      return std::string(asked) == n ? v : nullptr;
    };
    EXPECT_NO_THROW(validate(options_from(lookup))) << name;
  }
}

}  // namespace
}  // namespace heddle::detail
