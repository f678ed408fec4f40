// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "listing.hpp"
#include "progress.hpp"
#include "shown_name.hpp"
#include "table.hpp"

namespace image_batch {
namespace {

using paths = std::vector<std::filesystem::path>;

TEST(OutputNames, ReplaceTheEnding) { EXPECT_EQ(output_names({"a.jpg"}, "sheet.png"), paths{"a.png"}); }

TEST(OutputNames, DifferForFilesOfOneStem) {
  EXPECT_EQ(output_names({"a.jpg", "a.png"}, "sheet.png"), (paths{"a.png", "a.png.png"}));
}

TEST(OutputNames, LeaveTheReservedNameAlone) {
  EXPECT_EQ(output_names({"sheet.jpg"}, "sheet.png"), paths{"sheet.jpg.png"});
}

TEST(OutputNames, AreAllDifferentHoweverInputsAreNamed) {
  const paths names{"a", "a.jpg", "a.jpg-2.png", "a.jpg.jpg", "a.jpg.png", "a.png", "a.png.png"};
  const auto outputs = output_names(names, "a.png");
  EXPECT_EQ(std::set(outputs.begin(), outputs.end()).size(), names.size());
}

TEST(ShownName, KeepsSpacesAndOtherScripts) { EXPECT_EQ(shown_name("Grüße 東京 🌍.png"), "Grüße 東京 🌍.png"); }

TEST(ShownName, EscapesWhatCouldSteerATerminal) {
  EXPECT_EQ(shown_name("a\nb\x1b[2J\x7f\tc\\"), "a\\nb\\x1b[2J\\x7f\\tc\\\\");
}

TEST(ShownName, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(shown_name("\xff"), "\\xff");                    // never a byte of UTF-8
  EXPECT_EQ(shown_name("\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(shown_name("\xc0\xaf"), "\\xc0\\xaf");           // longer than needed
  EXPECT_EQ(shown_name("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a pair
  EXPECT_EQ(shown_name("\xc2\x9b"), "\\xc2\\x9b");           // a control character
}

TEST(Table, AlignsNumbersRightAndWordsLeft) {
  EXPECT_EQ(table_text({{"id", "name"}, {"7", "x"}, {"10", "long name"}}),
            "id  name\n"
            " 7  x\n"
            "10  long name\n");
}

TEST(ProgressText, TellsRateAndTimeLeft) {
  EXPECT_EQ(progress_text(10, 40, std::chrono::seconds(4)), "10 of 40 pictures, 2.5 per second, 12 s left");
}

TEST(ProgressText, GivesLongTimesInMinutesAndHours) {
  EXPECT_EQ(progress_text(1, 101, std::chrono::seconds(1)),
            "1 of 101 pictures, 1.0 per second, 1 min 40 s left");
  EXPECT_EQ(progress_text(1, 7261, std::chrono::seconds(1)),
            "1 of 7261 pictures, 1.0 per second, 2 h 1 min left");
}

TEST(ProgressText, PromisesNothingBeforeTheFirstPicture) {
  EXPECT_EQ(progress_text(0, 40, std::chrono::seconds(4)), "0 of 40 pictures");
}

}  // namespace
}  // namespace image_batch
