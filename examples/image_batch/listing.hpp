// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace image_batch {

/// One file of the input folder and the name that its result gets.
struct picture_task {
  std::filesystem::path input;
  std::filesystem::path output_name;  ///< without folder
};

/// Names for the results of files with these names, in their order: `a.jpg` becomes `a.png`, unless that name
/// is taken by an earlier one or by `reserved`; then `a.jpg.png`, `a.jpg-2.png` and so on. No two are equal.
std::vector<std::filesystem::path> output_names(const std::vector<std::filesystem::path>& names,
                                                const std::filesystem::path& reserved);

/// Everything in `folder` by name (bytewise order), pictures or not; but not names that begin with a dot, and
/// not `out`. Looks into no folder below. Throws `std::filesystem::filesystem_error`.
std::vector<picture_task> list_folder(const std::filesystem::path& folder, const std::filesystem::path& out,
                                      const std::filesystem::path& reserved);

/// Whether both name one existing file or folder; false where one of them cannot be looked at.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) noexcept;

}  // namespace image_batch
