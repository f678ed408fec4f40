// SPDX-License-Identifier: Apache-2.0
#include "heddle/machine.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "heddle/version.hpp"

namespace heddle {
namespace {

class with_variable {
 public:
  with_variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~with_variable() { unsetenv(name_); }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;

 private:
  const char* name_;
};

TEST(DescribeMachine, PlansForNoMoreCoresThanItMayUse) {
  const machine_report here = describe_machine();
  EXPECT_GE(here.cores, 1);
  EXPECT_LE(here.cores, std::max(here.affinity_cores, 1));
}

TEST(DescribeMachine, ListsHostDevicesAmongTheBackends) {
  const auto backends = describe_machine().backends;
  EXPECT_EQ(std::count(backends.begin(), backends.end(), backend::host), 1);
}

TEST(DescribeMachine, GivesTheVersionOfTheHeaders) {
  EXPECT_EQ(describe_machine().version, std::to_string(HEDDLE_VERSION_MAJOR) + "." +
                                            std::to_string(HEDDLE_VERSION_MINOR) + "." +
                                            std::to_string(HEDDLE_VERSION_PATCH));
}

TEST(DescribeMachine, GivesTheVersionOfTbb) {
  const std::string version = describe_machine().tbb_version;
  EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos);
  EXPECT_GE(std::stoi(version), 2021);
}

TEST(DescribeMachine, ListsVariablesThatAreSet) {
  const with_variable set("HEDDLE_WINDOW", "4");
  const auto variables = describe_machine().variables;
  EXPECT_TRUE(std::any_of(variables.begin(), variables.end(),
                          [](const auto& v) { return v.name == "HEDDLE_WINDOW" && v.value == "4"; }));
}

TEST(DescribeMachine, ReportsABadValueInsteadOfThrowing) {
  EXPECT_EQ(describe_machine().options_error, "");
  const with_variable bad("HEDDLE_WINDOW", "wide");
  EXPECT_EQ(describe_machine().options_error, "HEDDLE_WINDOW=wide: takes a whole number from 1 to 1024");
}

TEST(DescribeMachine, ReportsAMistypedVariable) {
  const with_variable mistyped("HEDDLE_WINDOWS", "4");
  const auto unknown = describe_machine().unknown;
  EXPECT_TRUE(std::any_of(unknown.begin(), unknown.end(), [](const auto& u) {
    return u.name == "HEDDLE_WINDOWS" && u.closest == "HEDDLE_WINDOW";
  }));
}

TEST(Backend, HasANameForEachEnumerator) {
  EXPECT_STREQ(to_string(backend::automatic), "automatic");
  EXPECT_STREQ(to_string(backend::cuda), "cuda");
  EXPECT_STREQ(to_string(backend::host), "host");
}

}  // namespace
}  // namespace heddle
