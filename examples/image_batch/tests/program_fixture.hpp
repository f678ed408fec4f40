// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/program.hpp"
#include "tests/samples.hpp"
#include "write_png.hpp"

namespace image_batch {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The program with an input folder of its own.
class Program : public testing::Test {
 protected:
  Program() { fs::create_directory(in()); }

  fs::path in() const { return folder_ / "in"; }
  fs::path out() const { return folder_ / "out"; }
  fs::path at(const std::string& name) const { return folder_ / name; }

  void add_png(const std::string& name, int width = 60, int height = 40, unsigned seed = 1) const {
    samples::save(in() / name, encode_png(samples::noise(width, height, seed).view()));
  }
  void add(const std::string& name, const samples::bytes& content) const {
    samples::save(in() / name, content);
  }

  run_result run(names more = {}, const run_options& options = {}) const {
    names all{in().string(), "--out", out().string()};
    all.insert(all.end(), more.begin(), more.end());
    return run_image_batch(all, options);
  }

  // The file is named with this reason, the rest is done, and the exit code says so.
  void expect_skipped(const std::string& name, const std::string& reason,
                      const run_options& options = {}) const {
    add_png("good.png");
    const auto result = run({}, options);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(contains(result.err, "skipped " + name + ": " + reason)) << result.err;
    EXPECT_EQ(names_in(out()), (names{"contact-sheet.png", "good.png"}));
  }

 private:
  temporary_folder folder_;
};

}  // namespace image_batch
