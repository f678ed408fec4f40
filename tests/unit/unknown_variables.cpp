// SPDX-License-Identifier: Apache-2.0
#include "config/unknown_variables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/environment.hpp"

namespace heddle::detail {
namespace {

// "NAME>meant" for each one found.
std::vector<std::string> found(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  std::vector<std::string> out;
  for (const auto& u : unknown_variables(environment.data())) out.push_back(u.name + ">" + u.closest);
  return out;
}

std::size_t by_recursion(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::size_t kept = by_recursion(a.substr(1), b.substr(1)) + (a[0] != b[0]);
  return std::min({kept, by_recursion(a.substr(1), b) + 1, by_recursion(a, b.substr(1)) + 1});
}

TEST(EditDistance, AgreesWithItsDefinitionForEveryShortPair) {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; words.size() < 1 + 2 + 4 + 8 + 16; ++i) {
    words.push_back(words[i] + 'a');
    words.push_back(words[i] + 'b');
  }
  for (const auto& a : words) {
    for (const auto& b : words) ASSERT_EQ(edit_distance(a, b), by_recursion(a, b)) << a << " " << b;
  }
}

TEST(UnknownVariables, NamesAMistypedOneAndWhatWasMeant) {
  EXPECT_EQ(found({"HEDDLE_STREAM=4", "HEDDLE_DEVICE=0", "HEDDLE_HOST_DEVICE=2"}),
            (std::vector<std::string>{"HEDDLE_STREAM>HEDDLE_STREAMS", "HEDDLE_DEVICE>HEDDLE_DEVICES",
                                      "HEDDLE_HOST_DEVICE>HEDDLE_HOST_DEVICES"}));
}

TEST(UnknownVariables, SuggestNothingWhenNoNameIsNear) {
  EXPECT_EQ(found({"HEDDLE_SOMETHING_ELSE=1", "HEDDLE_FOO=1", "HEDDLE_="}),
            (std::vector<std::string>{"HEDDLE_SOMETHING_ELSE>", "HEDDLE_FOO>", "HEDDLE_>"}));
}

TEST(UnknownVariables, ExcludeEveryKnownOne) {
  std::vector<std::string> entries;
  for (const std::string& name : known_variables()) entries.push_back(name + "=bad value");
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  EXPECT_TRUE(found(environment).empty());
}

TEST(UnknownVariables, ExcludeThoseOfTestsAndCudaBuilds) {
  EXPECT_TRUE(found({"HEDDLE_REQUIRE_GPU=1", "HEDDLE_CUDA_ROOT=/x", "HEDDLE_CUDA=1"}).empty());
}

TEST(UnknownVariables, ExcludeWhatDoesNotBeginWithThePrefix) {
  EXPECT_TRUE(found({"PATH=HEDDLE_X", "heddle_streams=1", "MY_HEDDLE_X=1", "HEDDLE=1", "=", ""}).empty());
}

TEST(UnknownVariables, AreFoundWithoutAValue) {
  EXPECT_EQ(found({"HEDDLE_TIME", "HEDDLE_TIMS="}),
            (std::vector<std::string>{"HEDDLE_TIME>HEDDLE_TIMES", "HEDDLE_TIMS>HEDDLE_TIMES"}));
}

TEST(UnknownVariables, AreNoneWithoutAnEnvironment) { EXPECT_TRUE(unknown_variables(nullptr).empty()); }

}  // namespace
}  // namespace heddle::detail
