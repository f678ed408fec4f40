// SPDX-License-Identifier: Apache-2.0
// What the program does with bad files, bad folders, a full disk and Ctrl-C.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "read_image.hpp"
#include "tests/program_fixture.hpp"

namespace image_batch {
namespace {

TEST_F(Program, SkipsWhatIsNoPicture) {
  add("notes.txt", {'h', 'e', 'l', 'l', 'o'});
  expect_skipped("notes.txt", "not a PNG or JPEG file");
}

TEST_F(Program, SkipsAnEmptyFile) {
  add("empty.png", {});
  expect_skipped("empty.png", "an empty file");
}

TEST_F(Program, SkipsATruncatedPng) {
  add("short.png", samples::half(encode_png(samples::noise(60, 40).view())));
  expect_skipped("short.png", "a broken PNG file: ");
}

TEST_F(Program, SkipsATruncatedJpeg) {
  add("short.jpg", samples::half(samples::jpeg_file(samples::noise(60, 40))));
  expect_skipped("short.jpg", "a broken JPEG file: Premature end of JPEG file");
}

TEST_F(Program, SkipsAFileThatClaimsAHugePicture) {
  add("huge.png", samples::png_header(60000, 50000));
  expect_skipped("huge.png", "too large: 60000 x 50000 pixels");
}

TEST_F(Program, SkipsAHugeFileWithoutReadingIt) {
  add("huge.png", samples::png_header(60, 50));
  fs::resize_file(in() / "huge.png", std::uintmax_t{5} << 30);  // a hole, no room on the disk
  expect_skipped("huge.png", "too large: a file of 5120 MiB");
}

TEST_F(Program, SkipsAFolder) {
  fs::create_directory(in() / "folder.png");
  expect_skipped("folder.png", "a folder, not a picture");
}

TEST_F(Program, SkipsALinkToItself) {
  fs::create_symlink("loop.png", in() / "loop.png");
  expect_skipped("loop.png", "cannot be read: ");
}

TEST_F(Program, SkipsALinkToNothing) {
  fs::create_symlink("gone", in() / "link.png");
  expect_skipped("link.png", "cannot be read: No such file or directory");
}

TEST_F(Program, SkipsAPipeWithoutWaitingForIt) {
  ASSERT_EQ(::mkfifo((in() / "pipe.png").c_str(), 0666), 0);
  expect_skipped("pipe.png", "not a regular file");
}

TEST_F(Program, SkipsAFileThatMayNotBeRead) {
  add_png("secret.png");
  fs::permissions(in() / "secret.png", fs::perms::none);
  fs::create_directory(out());
  fs::permissions(out(), fs::perms::all);
  expect_skipped("secret.png", "cannot be read: Permission denied", {.as_nobody = ::geteuid() == 0});
}

TEST_F(Program, ExitsWith2WhenNothingCouldBeDone) {
  add("notes.txt", {'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(run().exit_code, 2);
  EXPECT_EQ(names_in(out()), names{});
}

TEST_F(Program, ExitsWith2ForAnEmptyFolder) {
  const auto result = run();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "holds no files")) << result.err;
}

TEST_F(Program, ExitsWith2WhenTheInputIsNoFolder) {
  const auto result = run_image_batch({at("missing").string(), "--out", out().string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "is not a folder")) << result.err;
}

TEST_F(Program, RefusesTheInputFolderAsOutput) {
  add_png("a.png", 300, 200);
  const auto before = samples::load(in() / "a.png");
  fs::create_directory_symlink("in", at("alias"));  // by another name too
  EXPECT_EQ(run_image_batch({in().string(), "--out", at("alias").string()}).exit_code, 2);
  EXPECT_EQ(names_in(in()), names{"a.png"});
  EXPECT_EQ(samples::load(in() / "a.png"), before);
}

TEST_F(Program, DoesNotReadItsResultsWhenTheyLieInTheInputFolder) {
  add_png("a.png");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run_image_batch({in().string(), "--out", (in() / "results").string()}).exit_code, 0);
  }
  EXPECT_EQ(names_in(in() / "results"), (names{"a.png", "contact-sheet.png"}));
}

TEST_F(Program, ExitsWith2WhenTheOutputFolderCannotBeMade) {
  add_png("a.png");
  add("file", {1});
  EXPECT_EQ(run_image_batch({in().string(), "--out", (in() / "file" / "out").string()}).exit_code, 2);
}

TEST_F(Program, ExitsWith2WhenTheOutputFolderMayNotBeWritten) {
  add_png("a.png");
  fs::create_directory(out());
  fs::permissions(out(), fs::perms(0555));
  const auto result = run({}, {.as_nobody = ::geteuid() == 0});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "cannot write into")) << result.err;
}

TEST_F(Program, LeavesNothingHalfWrittenWhenThereIsNoRoom) {
  samples::save(in() / "small.png", encode_png(image(4, 4).view()));
  for (unsigned k = 0; k < 6; ++k) add_png("big" + std::to_string(k) + ".png", 200, 200, k);
  const auto result = run({}, {.file_size_limit = 4096});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(contains(result.err, "skipped big0.png: cannot write ")) << result.err;
  EXPECT_EQ(read_image(out() / "small.png", {}), image(4, 4));
  for (const auto& name : names_in(out())) {
    EXPECT_NO_THROW(static_cast<void>(read_image(out() / name, {}))) << name;
    EXPECT_FALSE(name.starts_with(".") || name.starts_with("big")) << name;
  }
}

TEST_F(Program, KeepsTheOldResultWhenTheNewOneCannotBeWritten) {
  add_png("a.png", 200, 200);
  ASSERT_EQ(run().exit_code, 0);
  const auto before = samples::load(out() / "a.png");
  EXPECT_EQ(run({"--op", "blur"}, {.file_size_limit = 4096}).exit_code, 2);
  EXPECT_EQ(samples::load(out() / "a.png"), before);
}

TEST_F(Program, StopsCleanlyWhenInterrupted) {
  constexpr unsigned pictures = 60;
  for (unsigned k = 0; k < pictures; ++k) add_png("p" + std::to_string(k) + ".png", 300, 200, k);
  const auto result = run({"--in-flight", "1"}, {.signal_at_first_line = SIGINT});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_TRUE(contains(result.out, " not started")) << result.out;
  EXPECT_LT(names_in(out()).size(), pictures);
  for (const auto& name : names_in(out())) {
    EXPECT_NO_THROW(static_cast<void>(read_image(out() / name, {}))) << name;
  }
}

TEST_F(Program, ExitsWith2ForBadOptions) {
  add_png("a.png");
  for (const names& bad : {names{"--op", "polish"}, {"--size", "0"}, {"--devices", "-1"}, {"--nonsense"}}) {
    EXPECT_EQ(run(bad).exit_code, 2) << bad[0];
  }
  EXPECT_EQ(run_image_batch({in().string()}).exit_code, 2);  // no --out
  EXPECT_EQ(run({}, {.environment = {{"HEDDLE_HOST_DEVICES", "many"}}}).exit_code, 2);
}

}  // namespace
}  // namespace image_batch
