// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace image_batch {

/// A file name that is safe to print on one line: control characters, backslashes and what is not UTF-8 come
/// as \n, \x1b and the like; everything else, spaces and other scripts included, as it is.
std::string shown_name(const std::filesystem::path& name);

}  // namespace image_batch
