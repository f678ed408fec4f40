// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace image_batch {

struct run_options {
  std::map<std::string, std::string> environment = {};  ///< on top of the test's own
  std::optional<unsigned long> file_size_limit = {};    ///< bytes that any file may have
  bool as_nobody = false;                               ///< drops root's rights; only where the test has them
  bool terminal = false;                                ///< standard error is a terminal
  int signal_at_first_line = 0;  ///< sent once the program has printed something on standard output
};

struct run_result {
  int exit_code = -1;  ///< -1: did not end by itself
  std::string out;
  std::string err;
};

/// Runs image_batch with these arguments and collects what it prints. One that takes over two minutes is
/// ended.
run_result run_image_batch(const std::vector<std::string>& arguments, const run_options& options = {});

/// A folder of its own for each test, gone afterwards.
class temporary_folder {
 public:
  temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder();

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The names in a folder, sorted; empty for a folder that does not exist.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace image_batch
