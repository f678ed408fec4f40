// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace heddle::test {

/// A fresh folder that goes away with this object; tests write made-up system files into it.
class temp_tree {
 public:
  temp_tree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed for " + pattern);
    root_ = pattern;
  }
  temp_tree(const temp_tree&) = delete;
  temp_tree& operator=(const temp_tree&) = delete;
  ~temp_tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const std::filesystem::path& root() const noexcept { return root_; }

  /// Writes `text` to the file `name`, a path below the root; makes the folders it needs.
  temp_tree& file(const std::string& name, const std::string& text) {
    const auto path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace heddle::test
