// SPDX-License-Identifier: Apache-2.0
#include "config/text.hpp"

#include <array>
#include <cstddef>
#include <fstream>

namespace heddle::detail {

std::optional<std::string> small_file(const std::filesystem::path& path) {
  constexpr std::size_t most = std::size_t{8} << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> buffer{};
  // Read to the end rather than by size: files of /proc and /sys say that they are empty.
  while (in) {
    in.read(buffer.data(), buffer.size());
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) return std::nullopt;
  }
  if (!in.eof()) return std::nullopt;
  return text;
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace heddle::detail
