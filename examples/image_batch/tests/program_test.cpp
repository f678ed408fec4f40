// SPDX-License-Identifier: Apache-2.0
// The program as a whole, run as users run it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "read_image.hpp"
#include "tests/program_fixture.hpp"

namespace image_batch {
namespace {

TEST_F(Program, ExitsWith0WhenAllIsDone) {
  add_png("a.png");
  add("b.jpg", samples::jpeg_file(samples::noise(50, 30)));
  const auto result = run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(names_in(out()), (names{"a.png", "b.png", "contact-sheet.png"}));
}

TEST_F(Program, ShrinksToTheSizeAsked) {
  add_png("a.png", 300, 200);
  run({"--size", "60", "--op", "none"});
  const auto result = read_image(out() / "a.png", {});
  EXPECT_EQ(result.width, 60);
  EXPECT_EQ(result.height, 40);
}

TEST_F(Program, LeavesAPictureThatFitsUnchangedWithoutOperation) {
  add_png("a.png");
  run({"--op", "none"});
  EXPECT_EQ(read_image(out() / "a.png", {}), samples::noise(60, 40));
}

TEST_F(Program, TellsKindsByContentNotByName) {
  add("photo.png", samples::jpeg_file(samples::noise(50, 30)));
  add_png("drawing.jpg");
  add_png("nothing");
  EXPECT_EQ(run().exit_code, 0);
}

TEST_F(Program, ListsResultsInInputOrder) {
  std::string expected;
  for (int k = 10; k < 30; ++k) {
    const auto stem = "p" + std::to_string(k);
    add_png(stem + ".png", k % 2 == 0 ? 10 : 400, 100);  // so that they finish in another order
    expected += stem + " ";
  }
  const auto result = run({"--devices", "3"});
  std::string found;
  for (std::size_t at = 0; (at = result.out.find(".png -> p", at)) != std::string::npos; ++at) {
    found += result.out.substr(at - 3, 3) + " ";
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Program, GivesTheSameBytesForAnyNumberOfDevicesAndEitherMode) {
  for (unsigned k = 0; k < 12; ++k) {
    add_png("p" + std::to_string(k) + ".png", 200 + static_cast<int>(k) * 17, 150, k);
  }
  add("q.jpg", samples::jpeg_file(samples::noise(320, 200)));
  for (const char* what : {"sharpen", "blur", "edges"}) {
    const auto first = at(std::string(what) + "-1");
    run_image_batch({in().string(), "-o", first.string(), "--size", "128", "--op", what, "--devices", "1",
                     "--no-colours"});
    ASSERT_EQ(names_in(first).size(), 14u);
    for (const char* devices : {"2", "4"}) {
      for (const char* mode : {"immediate", "deferred"}) {
        const auto other = at(std::string(what) + "-" + devices + mode);
        run_image_batch({in().string(), "-o", other.string(), "--size", "128", "--op", what, "--devices",
                         devices, "--no-colours"},
                        {.environment = {{"HEDDLE_HOST_MODE", mode}}});
        ASSERT_EQ(names_in(other), names_in(first));
        for (const auto& name : names_in(first)) {
          EXPECT_EQ(samples::load(other / name), samples::load(first / name))
              << name << ' ' << devices << mode;
        }
      }
    }
  }
}

TEST_F(Program, HasARowForEachDeviceInItsTable) {
  add_png("a.png");
  const auto result = run({"--devices", "3"}, {.environment = {{"HEDDLE_IDS", "4,5,6"}}});
  for (const char* id : {"\n     4  ", "\n     5  ", "\n     6  "})
    EXPECT_TRUE(contains(result.out, id)) << result.out;
}

TEST_F(Program, KeepsFilesOfOneStemApart) {
  add_png("a.png", 60, 40, 1);
  add("a.jpg", samples::jpeg_file(samples::noise(30, 20)));
  add_png("contact-sheet.png", 60, 40, 2);
  EXPECT_EQ(run({"--op", "none"}).exit_code, 0);
  EXPECT_EQ(names_in(out()), (names{"a.png", "a.png.png", "contact-sheet.png", "contact-sheet.png.png"}));
  EXPECT_EQ(read_image(out() / "a.png.png", {}), samples::noise(60, 40, 1));
  EXPECT_EQ(read_image(out() / "contact-sheet.png.png", {}), samples::noise(60, 40, 2));
}

TEST_F(Program, TakesNamesOfAllKinds) {
  const names odd{"two words.png", "Grüße 東京.png", "line\nbreak.png",    "\xff\xfe.png",
                  "-o.png",        "%s%n.png",       std::string(255, 'x')};
  for (const auto& name : odd) add_png(name);
  const auto result = run();
  EXPECT_TRUE(contains(result.out, "line\\nbreak.png -> line\\nbreak.png")) << result.out;
  EXPECT_TRUE(contains(result.out, "%s%n.png -> %s%n.png")) << result.out;
  for (const auto& name : odd) EXPECT_EQ(fs::exists(out() / name), name.size() < 255) << name;
  EXPECT_TRUE(contains(result.err, "xxx: cannot write ")) << result.err;  // .png makes it too long
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(Program, LooksPastHiddenFiles) {
  add(".notes", {'h', 'i'});
  add_png("a.png");
  EXPECT_EQ(run().exit_code, 0);
}

TEST_F(Program, ShowsNoProgressWhereThereIsNoTerminal) {
  add_png("a.png");
  const auto result = run();
  EXPECT_FALSE(contains(result.err + result.out, "per second,")) << result.err;
  EXPECT_FALSE(contains(result.err + result.out, "\r")) << result.err;
}

TEST_F(Program, ShowsProgressOnATerminal) {
  add_png("a.png");
  add_png("b.png");
  EXPECT_TRUE(contains(run({}, {.terminal = true}).err, "1 of 2 pictures, "));
}

TEST_F(Program, DrawsSamplePicturesAndWorksOnThem) {
  const auto drawn = at("drawn");
  const auto result =
      run_image_batch({"--draw", "3", drawn.string(), "--out", out().string(), "--size", "100"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(names_in(drawn),
            (names{"sample-001-hills.png", "sample-002-mandelbrot.png", "sample-003-waves.png"}));
  EXPECT_EQ(names_in(out()).size(), 4u);
}

TEST_F(Program, DrawsTheSameForAnyNumberOfDevices) {
  run_image_batch({"--draw", "2", at("one").string(), "--devices", "1"});
  run_image_batch({"--draw", "2", at("four").string(), "--devices", "4"},
                  {.environment = {{"HEDDLE_HOST_MODE", "deferred"}}});
  ASSERT_EQ(names_in(at("one")).size(), 2u);
  for (const auto& name : names_in(at("one"))) {
    EXPECT_EQ(samples::load(at("one") / name), samples::load(at("four") / name)) << name;
  }
}

TEST_F(Program, ExplainsItself) {
  const auto result = run_image_batch({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, "Exit code: 0 all done, 1 some skipped, 2 nothing done"));
}

}  // namespace
}  // namespace image_batch
