// SPDX-License-Identifier: Apache-2.0
#include "pure/ids.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {
namespace {

std::string refusal(std::size_t count, const std::vector<int>& requested) {
  try {
    assign_ids(count, requested);
  } catch (const invalid_option& e) {
    return e.what();
  }
  return "accepted";
}

TEST(AssignIds, CountsFromZeroWhenNoneAreGiven) {
  EXPECT_EQ(assign_ids(4, {}), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(assign_ids(0, {}), std::vector<int>{});
}

TEST(AssignIds, KeepsWhatIsGivenInItsOrder) {
  const std::vector<int> given = {7, 0, std::numeric_limits<int>::max()};
  EXPECT_EQ(assign_ids(3, given), given);
}

TEST(AssignIds, AcceptsExactlyTheUniqueAndNonNegativeOnesOfEverySmallList) {
  // Every list of up to four ids from -1 to 3, for every count up to five.
  for (std::size_t size = 1, lists = 5; size <= 4; ++size, lists *= 5) {
    for (std::size_t code = 0; code < lists; ++code) {
      std::vector<int> given;
      for (std::size_t i = 0, rest = code; i < size; ++i, rest /= 5) {
        given.push_back(static_cast<int>(rest % 5) - 1);
      }
      const std::set<int> distinct(given.begin(), given.end());
      const bool good = distinct.size() == size && *distinct.begin() >= 0;
      for (std::size_t count = 0; count <= 5; ++count) {
        ASSERT_EQ(refusal(count, given) == "accepted", good && count == size) << "list " << code;
      }
    }
  }
}

TEST(AssignIds, NamesAnIdGivenTwiceAndBothDevices) {
  EXPECT_EQ(refusal(3, {5, 3, 5}),
            "ids: id 5 is given to devices 0 and 2; give each device an id of its own");
}

TEST(AssignIds, NamesANegativeId) {
  EXPECT_EQ(refusal(2, {0, -4}), "ids: id -4 of device 1 is negative; give 0 or a larger number");
}

TEST(AssignIds, SaysHowManyIdsAreMissing) {
  EXPECT_EQ(refusal(3, {0, 1}), "ids: 2 given for 3 devices; give one id per device, or none for 0, 1, 2, …");
}

}  // namespace
}  // namespace heddle::detail
