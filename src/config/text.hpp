// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The whole of a file of the kind that the kernel writes; empty if it cannot be read or is larger than 8
/// MiB.
std::optional<std::string> small_file(const std::filesystem::path& path);

/// `text` cut at each `separator`; empty pieces stay. Views into `text`.
std::vector<std::string_view> pieces(std::string_view text, char separator);

/// `text` without the spaces, tabs and line ends around it. A view into `text`.
std::string_view trimmed(std::string_view text);

}  // namespace heddle::detail
